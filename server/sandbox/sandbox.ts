import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidRequest, KnownError, unavailable } from '../domain/errors.ts';
import { SharedConcurrencyLimit } from '../runtime/limits.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { findIsolation, type Isolation, kill, launch } from './launch.ts';
import type { CageMessage, ContentMessage, StatementMessage } from './messages.ts';

/** Statements at a time, of one server process and of one workspace; how many more of a workspace may wait, how long. */
const AT_ONCE = 4;
const PER_WORKSPACE = 2;
const WAITING = 8;
const MAX_WAIT = 10_000;
/** Milliseconds that a client may take to read an answer, which holds a slot. */
const MAX_READING = 60_000;

/** Reads the content of the tables that a statement names, and puts their files into a folder. */
export type OpenContent = (tables: readonly string[], folder: string) => Promise<ContentMessage>;

export interface SandboxRequest extends Omit<StatementMessage, 'folder'> {
  readonly workspace: string;
  readonly open: OpenContent;
  readonly signal: AbortSignal;
}

export interface SandboxAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly truncated: boolean;
  readonly count: number;
  /** A JSON array, as it comes from the process, which waits for the reader. */
  readonly rows: AsyncGenerator<Buffer, void>;
}

/** Runs statements of clients, each in a process of its own that is limited, isolated and killed after its time. */
export class Sandbox {
  readonly isolation: Isolation;
  readonly #folder: ProcessFolder;
  readonly #time: number;
  readonly #slots = new SharedConcurrencyLimit({ concurrency: AT_ONCE, perKey: PER_WORKSPACE, maxWait: MAX_WAIT });
  readonly #asked = new Map<string, number>();
  readonly #running = new Map<ChildProcess, () => void>();

  private constructor(isolation: Isolation, folder: ProcessFolder, time: number) {
    this.isolation = isolation;
    this.#folder = folder;
    this.#time = time;
  }

  /** @param parent for temporary files; throws where processes cannot be limited; @param time milliseconds that a statement may take */
  static async open(parent: string, time: number): Promise<Sandbox> {
    const folder = await ProcessFolder.take(parent);
    const isolation = await findIsolation(await emptyFolder(folder), folder.path);
    if (isolation !== undefined) return new Sandbox(isolation, folder, time);
    await folder.remove();
    throw new Error('ORDINATE_SQL needs Linux, where the service can limit its processes (ulimit); set it to off.');
  }

  /** Runs a statement. Read the rows to the end, or return from them: the process holds its slot until then. */
  async run(request: SandboxRequest): Promise<SandboxAnswer> {
    const { signal } = request;
    const leave = await this.#enter(request.workspace, signal);
    let files: string;
    let child: ChildProcess;
    try {
      const empty = await emptyFolder(this.#folder);
      files = await mkdtemp(join(this.#folder.path, 'files-'));
      child = launch({ isolation: this.isolation, empty, files });
    } catch (error) {
      leave();
      throw error;
    }
    let stopped: KnownError | undefined;
    const stop = (why?: KnownError): void => {
      stopped ??= why;
      kill(child);
    };
    const onAbort = (): void => stop();
    this.#running.set(child, () => stop(unavailable('The service is stopping.', 'other')));
    signal.addEventListener('abort', onAbort, { once: true });
    let timer = setTimeout(() => stop(tooLong(this.#time)), this.#time);
    void ended(child).then(async () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      await rm(files, { recursive: true, force: true }).catch(() => {});
      this.#running.delete(child);
      leave();
    });
    const output = new Output(child.stdout!);
    try {
      signal.throwIfAborted();
      const { sql, parameters, limit, project, tables } = request;
      send(child, { sql, parameters, limit, project, tables, folder: files } satisfies StatementMessage);
      let message = await output.message();
      if (message !== undefined && 'needs' in message) {
        send(child, await request.open(message.needs, files));
        message = await output.message();
      }
      signal.throwIfAborted();
      if (stopped !== undefined) throw stopped;
      if (message === undefined) throw tooLarge();
      if (!('columns' in message))
        throw invalidRequest('refused' in message ? message.refused : 'The statement cannot run.');
      clearTimeout(timer);
      timer = setTimeout(stop, MAX_READING);
      const { columns, truncated, rows: count, bytes } = message;
      return { columns, truncated, count, rows: output.rest(bytes, stop) };
    } catch (error) {
      stop();
      throw error;
    }
  }

  /** Kills all statements, and waits until they have ended. */
  async close(): Promise<void> {
    const children = [...this.#running];
    for (const [, stop] of children) stop();
    await Promise.all(children.map(([child]) => ended(child)));
    await this.#folder.remove();
  }

  async #enter(workspace: string, signal: AbortSignal): Promise<() => void> {
    const asked = this.#asked.get(workspace) ?? 0;
    if (asked >= PER_WORKSPACE + WAITING) {
      throw new KnownError(
        'rate_limited',
        `${PER_WORKSPACE} statements of this workspace run at a time, and ${WAITING} others wait already. Try again in 5 s.`,
        { retryAfter: 5 },
      );
    }
    this.#asked.set(workspace, asked + 1);
    const left = (): void => {
      const others = this.#asked.get(workspace)! - 1;
      if (others === 0) this.#asked.delete(workspace);
      else this.#asked.set(workspace, others);
    };
    try {
      const leave = await this.#slots.enter(workspace, signal);
      return () => {
        leave();
        left();
      };
    } catch (error) {
      left();
      throw error;
    }
  }
}

/** Made again where somebody has removed it. */
async function emptyFolder(folder: ProcessFolder): Promise<string> {
  const empty = join(folder.path, 'empty');
  await mkdir(empty, { recursive: true, mode: 0o700 });
  return empty;
}

/** Also of a process that could not start. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close').catch(() => {});
}

function send(child: ChildProcess, message: object): void {
  child.stdin!.write(`${JSON.stringify(message)}\n`);
}

/** What a process writes: lines, then bytes. */
class Output {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Undefined after the last one, also of a process that was killed. */
  async #next(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next().catch(() => undefined);
    return next === undefined || next.done === true ? undefined : next.value;
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

  /** The bytes. Throws if the process ends before them. @param stop ends the process when nobody reads any more */
  async *rest(bytes: number, stop: () => void): AsyncGenerator<Buffer, void> {
    try {
      let left = bytes - this.#rest.length;
      if (this.#rest.length > 0) yield this.#rest;
      for (let next = await this.#next(); next !== undefined; next = await this.#next()) {
        left -= next.length;
        yield next;
      }
      if (left !== 0) throw new Error('The process of a statement ended before its rows.');
    } finally {
      stop();
    }
  }
}

/** The longest line of a process. */
const MAX_LINE = 4_000_000;

function tooLong(time: number): KnownError {
  return invalidRequest(`The statement was stopped after ${time / 1000} s; let it read less, or aggregate earlier.`);
}

function tooLarge(): KnownError {
  return invalidRequest('The statement needs more memory than it may use; let it read less, or aggregate earlier.');
}
