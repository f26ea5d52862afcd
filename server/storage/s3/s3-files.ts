import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { classifyFailure } from '../../domain/failures.ts';
import { type Measurements, measure, secondsSince } from '../../runtime/measurements.ts';
import type { ListedObject, StoredFile } from '../file-store.ts';
import type { Content } from '../local-files.ts';
import type { S3Address } from './address.ts';
import { type RemoteFiles, remoteDamageOf, StorageAway } from './remote-files.ts';
import { CutAnswer, describe, HINTS, isDenied, isGone, isMissing, isNotImplemented, isThere } from './s3-failures.ts';

/** Larger files are stored in parts of this size, two at a time. */
const PART_BYTES = 16_777_216;
const PARTS_AT_ONCE = 2;
const ATTEMPTS = 3;

/** Milliseconds. */
export interface Timeouts {
  /** To open a connection. */
  readonly connect: number;
  /** Without a byte in either direction. */
  readonly idle: number;
  /** The same during a multipart upload: a store may take long to assemble the parts. */
  readonly upload: number;
  /** To get a file or its metadata, while requests wait for it. */
  readonly answer: number;
  /** Any other request. */
  readonly request: number;
  /** In addition to both, for each megabyte. */
  readonly megabyte: number;
}

const TIMEOUTS: Timeouts = {
  connect: 3000,
  idle: 10_000,
  upload: 120_000,
  answer: 8000,
  request: 20_000,
  megabyte: 2000,
};

export interface S3Options {
  readonly address: S3Address;
  /** Undefined for AWS. */
  readonly endpoint: string | undefined;
  /** Undefined: from the environment. */
  readonly region: string | undefined;
  readonly pathStyle: boolean;
  readonly timeouts?: Timeouts;
}

/** Files in an object store with the S3 protocol. Credentials come from the SDK's own chain. */
export class S3Files implements RemoteFiles {
  readonly #options: S3Options;
  readonly #timeouts: Timeouts;
  readonly #client: S3Client;
  /** For multipart uploads. */
  readonly #uploads: S3Client;
  #hasBucket = false;

  constructor(options: S3Options) {
    const { timeouts = TIMEOUTS } = options;
    this.#options = options;
    this.#timeouts = timeouts;
    this.#client = connect(options, timeouts, timeouts.idle);
    this.#uploads = connect(options, timeouts, timeouts.upload);
  }

  addressOf(file: string): string {
    const { bucket } = this.#options.address;
    return `s3://${bucket}/${this.#keyOf(file)}`;
  }

  put(stored: StoredFile, source: string): Promise<void> {
    const { file, bytes, sha256 } = stored;
    // Also for multipart uploads, for which stores only keep a checksum of the parts.
    const common = { ...this.#objectOf(file), Metadata: { sha256 } };
    return this.#run('put', file, async () => {
      const abortSignal = this.#deadline(bytes);
      if (bytes <= PART_BYTES) {
        const Body = await readFile(source);
        const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
        await this.#client.send(new PutObjectCommand({ ...common, Body, ChecksumSHA256 }), { abortSignal });
        return;
      }
      const body = createReadStream(source, { highWaterMark: 1_048_576 });
      const params = { ...common, Body: body, ChecksumAlgorithm: 'SHA256' as const };
      const upload = new Upload({ client: this.#uploads, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE, params });
      const abort = (): void => void upload.abort();
      abortSignal.addEventListener('abort', abort, { once: true });
      try {
        // Parts of a failed upload are removed.
        await upload.done().catch(async (error: unknown) => {
          // The upload is complete, and only the answer was lost.
          if (!isGone(error) || (await remoteDamageOf(this, stored)) !== undefined) throw error;
        });
      } finally {
        abortSignal.removeEventListener('abort', abort);
        body.destroy();
      }
    });
  }

  get(stored: StoredFile, target: string): Promise<Content | undefined> {
    const { file, bytes } = stored;
    return this.#run('get', file, async () => {
      for (let attempt = 1; ; attempt++) {
        const abortSignal = this.#deadline(bytes, this.#timeouts.answer);
        try {
          const { Body } = await this.#client.send(new GetObjectCommand(this.#objectOf(file)), { abortSignal });
          return await receive(Body as Readable, target, abortSignal);
        } catch (error) {
          if (isMissing(error)) return undefined;
          // The SDK retries until an answer begins, not when it is cut.
          if (attempt === ATTEMPTS || !(error instanceof CutAnswer)) throw error;
        }
      }
    });
  }

  stat(file: string): Promise<Content | undefined> {
    return this.#run('stat', file, async () => {
      const command = new HeadObjectCommand({ ...this.#objectOf(file), ChecksumMode: 'ENABLED' });
      try {
        const found = await this.#client.send(command, { abortSignal: this.#deadline(0, this.#timeouts.answer) });
        const { ContentLength: bytes = 0, ChecksumSHA256: checksum = '', Metadata } = found;
        // The checksum of a file of several parts is one of their checksums, `…-3`.
        const fromChecksum = /^[\w+/]{43}=$/.test(checksum) ? Buffer.from(checksum, 'base64').toString('hex') : '';
        return { bytes, sha256: fromChecksum || (Metadata?.['sha256'] ?? '') };
      } catch (error) {
        if (!isMissing(error)) throw error;
        await this.#requireBucket(file);
        return undefined;
      }
    });
  }

  readText(file: string): Promise<string | undefined> {
    return this.#run('get', file, async () => {
      for (let attempt = 1; ; attempt++) {
        const abortSignal = this.#deadline(0, this.#timeouts.answer);
        try {
          const { Body } = await this.#client.send(new GetObjectCommand(this.#objectOf(file)), { abortSignal });
          return Buffer.concat(await Array.fromAsync(readAll(Body as Readable))).toString();
        } catch (error) {
          if (isMissing(error)) return undefined;
          if (attempt === ATTEMPTS || !(error instanceof CutAnswer)) throw error;
        }
      }
    });
  }

  writeText(file: string, text: string, isNew: boolean): Promise<boolean> {
    const put = async (condition: { readonly IfNoneMatch?: '*' }): Promise<boolean> => {
      const command = new PutObjectCommand({ ...this.#objectOf(file), Body: text, ...condition });
      await this.#client.send(command, { abortSignal: this.#deadline(0) });
      return true;
    };
    return this.#run('put', file, async () => {
      if (!isNew) return put({});
      try {
        return await put({ IfNoneMatch: '*' });
      } catch (error) {
        if (isThere(error)) return false;
        // A store that knows no conditions.
        if (isNotImplemented(error)) return put({});
        throw error;
      }
    });
  }

  async *list(): AsyncGenerator<readonly ListedObject[]> {
    const { bucket, prefix } = this.#options.address;
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token });
      const page = await this.#run('list', '', () => this.#client.send(command, { abortSignal: this.#deadline(0) }));
      yield (page.Contents ?? []).map(({ Key = '', Size: bytes = 0, ETag: tag = '' }) => ({
        file: Key.slice(prefix.length),
        bytes,
        tag,
      }));
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  remove(file: string): Promise<void> {
    return this.#run('remove', file, async () => {
      const object = this.#objectOf(file);
      await this.#client.send(new DeleteObjectCommand(object), { abortSignal: this.#deadline(0) });
      // Only those of this file: nothing lists the bucket.
      const { Bucket, Key } = object;
      const list = new ListMultipartUploadsCommand({ Bucket, Prefix: Key });
      const { Uploads = [] } = await this.#client.send(list, { abortSignal: this.#deadline(0) });
      for (const { Key: key, UploadId } of Uploads) {
        if (key !== Key) continue;
        const abort = new AbortMultipartUploadCommand({ ...object, UploadId });
        await this.#client.send(abort, { abortSignal: this.#deadline(0) });
      }
    });
  }

  close(): void {
    this.#client.destroy();
    this.#uploads.destroy();
  }

  #keyOf(file: string): string {
    return `${this.#options.address.prefix}${file}`;
  }

  #objectOf(file: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.address.bucket, Key: this.#keyOf(file) };
  }

  /** Without a body, a missing bucket looks like a missing file. Throws `StorageAway`. */
  async #requireBucket(file: string): Promise<void> {
    if (this.#hasBucket) return;
    const command = new HeadBucketCommand({ Bucket: this.#options.address.bucket });
    try {
      await this.#client.send(command, { abortSignal: this.#deadline(0, this.#timeouts.answer) });
    } catch (error) {
      if (!(error instanceof S3ServiceException)) throw error;
      if (isMissing(error)) {
        throw new StorageAway(this.addressOf(file), `it answers 404 NoSuchBucket; ${HINTS['NoSuchBucket']}`);
      }
      // Without permission for this request, the bucket is assumed to exist.
    }
    this.#hasBucket = true;
  }

  #deadline(bytes: number, start = this.#timeouts.request): AbortSignal {
    return AbortSignal.timeout(start + Math.ceil(bytes / 1e6) * this.#timeouts.megabyte);
  }

  /** Describes failures without details of the request, such as its signature. */
  async #run<T>(kind: Measurements['storageRequest']['kind'], file: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const ended = (outcome: 'ok' | 'away'): void =>
      measure('storageRequest', () => ({ kind, outcome, seconds: secondsSince(started) }));
    try {
      const result = await work();
      ended('ok');
      return result;
    } catch (error) {
      // A disk failure, or described already.
      const isKnown = classifyFailure(error) !== undefined || (error as NodeJS.ErrnoException).code === 'ENOENT';
      const reason = describe(error, this.#options.endpoint);
      const failure = isKnown ? error : new StorageAway(this.addressOf(file), reason, isDenied(error));
      if (failure instanceof StorageAway) ended('away');
      throw failure;
    }
  }
}

/** @param idle milliseconds without a byte */
function connect({ endpoint, region, pathStyle }: S3Options, timeouts: Timeouts, idle: number): S3Client {
  return new S3Client({
    region: region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: timeouts.connect, socketTimeout: idle },
    // Ours are SHA-256, which we compare ourselves; not every store knows the SDK's default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** Writes the body of an answer to a path. */
async function receive(body: Readable, target: string, signal: AbortSignal): Promise<Content> {
  const hash = createHash('sha256');
  let bytes = 0;
  const abort = (): void => void body.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  // A failure that is unhandled before the body is read would end the process.
  body.once('error', () => {});
  await using file = await open(target, 'w', 0o600);
  try {
    for await (const chunk of readAll(body)) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      await file.writeFile(chunk);
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    signal.removeEventListener('abort', abort);
    body.destroy();
  }
}

/** Distinguishes connection failures from disk failures. */
async function* readAll(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk as Buffer;
  } catch (cause) {
    throw new CutAnswer(`the answer was cut (${(cause as Error).message})`, { cause });
  }
}
