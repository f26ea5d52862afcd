import { Readable } from 'node:stream';
import type { Random } from '../../../test/random.ts';
import type { Host } from '../host.ts';

/** What an object store has, and how it fails. */
export interface Bucket {
  readonly objects: Map<string, { readonly body: Buffer; readonly sha256: string }>;
  readonly random: Random;
  /** The share of requests that fail. */
  failures: number;
}

interface Input {
  readonly Key: string;
  readonly Body?: Buffer;
  readonly Metadata?: { readonly sha256?: string };
}

class S3ServiceException extends Error {
  readonly $metadata: { readonly httpStatusCode: number };

  constructor(name: string, status: number) {
    super(name);
    this.name = name;
    this.$metadata = { httpStatusCode: status };
  }
}

class Command {
  readonly input: Input;

  constructor(input: Input) {
    this.input = input;
  }
}

/** The packages of an object store, which is a map in memory. Requests fail, are cut, are late, or are never answered. */
export function objectStoreOf(process: Host, bucket: Bucket): Readonly<Record<string, unknown>> {
  const { simulation } = process;
  const { objects, random } = bucket;
  const names = [
    'PutObject',
    'GetObject',
    'HeadObject',
    'DeleteObject',
    'ListMultipartUploads',
    'AbortMultipartUpload',
  ];
  const commands = Object.fromEntries(names.map((name) => [`${name}Command`, class extends Command {}]));
  const fails = (how: string): boolean => simulation.decide(`${how} of the object store`, random, bucket.failures / 4);

  const effects: Readonly<Record<string, (input: Input) => unknown>> = {
    PutObject: ({ Key, Body, Metadata }) =>
      void objects.set(Key, { body: Buffer.from(Body!), sha256: Metadata?.sha256 ?? '' }),
    GetObject: ({ Key }) => {
      const found = objects.get(Key);
      if (found === undefined) throw new S3ServiceException('NoSuchKey', 404);
      const isCut = fails('cut answer');
      const half = Math.ceil(found.body.length / 2);
      const parts = [found.body.subarray(0, half), found.body.subarray(half)];
      return {
        Body: Readable.from(
          (async function* () {
            for (const [index, part] of parts.entries()) {
              await simulation.operation(process, `body of ${Key}`, () => {
                if (index === 1 && isCut) throw new Error('socket hang up');
              });
              yield part;
            }
          })(),
          { objectMode: false },
        ),
      };
    },
    HeadObject: ({ Key }) => {
      const found = objects.get(Key);
      if (found === undefined) throw new S3ServiceException('NotFound', 404);
      return { ContentLength: found.body.length, Metadata: { sha256: found.sha256 } };
    },
    DeleteObject: ({ Key }) => void objects.delete(Key),
    ListMultipartUploads: () => ({}),
    AbortMultipartUpload: () => ({}),
  };

  class S3Client {
    destroy(): void {}

    send(command: Command, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<unknown> {
      const name = names.find((each) => command instanceof commands[`${each}Command`]!)!;
      const label = `${name} ${command.input.Key ?? ''}`;
      const isLost = name !== 'GetObject' && fails('lost answer');
      const answer = fails('silence')
        ? new Promise<never>(() => {})
        : simulation.operation(
            process,
            label,
            () => {
              if (!isLost && fails('error')) throw new S3ServiceException('InternalError', 500);
              const result = effects[name]!(command.input);
              if (isLost) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
              return result;
            },
            [1, 100],
          );
      return Promise.race([answer, aborted(abortSignal)]);
    }
  }

  class Upload {
    done(): Promise<never> {
      return Promise.reject(new Error('The simulated object store has no files of several parts.'));
    }
  }
  return {
    '@aws-sdk/client-s3': { ...commands, S3Client, S3ServiceException },
    '@aws-sdk/lib-storage': { Upload },
  };
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal!.reason as Error);
    if (signal?.aborted === true) fail();
    else signal?.addEventListener('abort', fail, { once: true });
  });
}
