import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessFolder } from '../runtime/process-folder.ts';
import { type Cage, kill, launch } from './launch.ts';
import type { CageMessage, ContentMessage, StatementMessage } from './messages.ts';

/** The longest line of a process. */
const MAX_LINE = 4_000_000;

/** A process that waits for a statement, with a folder for the files of its tables. */
export class StatementProcess {
  /** The folder that it reads. */
  readonly files: string;
  /** Resolves when it has ended, or could not start, and its files are removed. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  private constructor(child: ChildProcess, files: string) {
    this.files = files;
    this.#child = child;
    this.#chunks = child.stdout![Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.ended = endOf(child).then(() => rm(files, { recursive: true, force: true }).catch(() => {}));
  }

  static async start(cage: Cage, folder: ProcessFolder): Promise<StatementProcess> {
    const empty = await emptyFolder(folder);
    const files = await mkdtemp(join(folder.path, 'files-'));
    return new StatementProcess(launch(cage, { empty, files }), files);
  }

  send(message: StatementMessage | ContentMessage): void {
    // These end lines too, for the reader.
    const line = JSON.stringify(message).replace(/[\u2028\u2029]/g, (end) =>
      end === '\u2028' ? '\\u2028' : '\\u2029',
    );
    this.#child.stdin!.write(`${line}\n`);
  }

  kill(): void {
    kill(this.#child);
  }

  /** The next line; undefined if the process has ended, or writes something else. */
  async message(): Promise<CageMessage | undefined> {
    for (let end = this.#rest.indexOf(10); ; end = this.#rest.indexOf(10)) {
      if (end >= 0) {
        const line = this.#rest.subarray(0, end).toString();
        this.#rest = this.#rest.subarray(end + 1);
        return JSON.parse(line) as CageMessage;
      }
      const next = await this.#next();
      if (next === undefined || this.#rest.length > MAX_LINE) return undefined;
      this.#rest = Buffer.concat([this.#rest, next]);
    }
  }

  /** The bytes after a line. Throws if the process ends before them. It is killed when nobody reads any more. */
  async *bytes(count: number): AsyncGenerator<Buffer, void> {
    try {
      let left = count - this.#rest.length;
      if (this.#rest.length > 0) yield this.#rest;
      for (let next = await this.#next(); next !== undefined; next = await this.#next()) {
        left -= next.length;
        yield next;
      }
      if (left !== 0) throw new Error('The process of a statement ended before its rows.');
    } finally {
      this.kill();
    }
  }

  /** Undefined after the last part, also of a process that was killed. */
  async #next(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next().catch(() => undefined);
    return next === undefined || next.done === true ? undefined : next.value;
  }
}

/** The empty folder of all processes, made again where somebody has removed it. */
export async function emptyFolder(folder: ProcessFolder): Promise<string> {
  const empty = join(folder.path, 'empty');
  await mkdir(empty, { recursive: true, mode: 0o700 });
  return empty;
}

/** Also of a process that could not start. */
async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close').catch(() => {});
}
