import { availableParallelism } from 'node:os';
import { invalidRequest, KnownError, stopping } from '../domain/errors.ts';
import { type LimitState, SharedConcurrencyLimit } from '../runtime/limits.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { CAGE, type Cage, findIsolation, type Isolation } from './launch.ts';
import type { ContentMessage, StatementMessage } from './messages.ts';
import { ProcessPool } from './process-pool.ts';
import { emptyFolder, type StatementProcess } from './statement-process.ts';

/** Statements at a time, of one server process and of one workspace; how many more of a workspace may wait, how long. */
const AT_ONCE = Math.min(Math.max(2, availableParallelism()), 4);
const PER_WORKSPACE = 2;
const WAITING = 8;
const MAX_WAIT = 10_000;
/** Milliseconds that a client may take to read an answer, which holds a slot. */
const MAX_READING = 60_000;

/** Where a process reads files, and whether it cannot change them. */
interface Target {
  readonly files: string;
  readonly isReadOnly: boolean;
}

/** Reads the content of the tables that a statement names, and puts their files into a folder. */
export type OpenContent = (tables: readonly string[], target: Target) => Promise<ContentMessage>;

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
  readonly #pool: ProcessPool;
  readonly #time: number;
  readonly #slots = new SharedConcurrencyLimit({
    concurrency: AT_ONCE,
    perKey: PER_WORKSPACE,
    maxWait: MAX_WAIT,
    busy,
  });
  readonly #asked = new Map<string, number>();
  readonly #stops = new Set<(why: KnownError) => void>();

  private constructor(cage: Cage, folder: ProcessFolder, time: number) {
    this.isolation = cage.isolation;
    this.#folder = folder;
    this.#pool = new ProcessPool(cage, folder);
    this.#time = time;
  }

  /**
   * Throws where processes cannot be limited.
   * @param parent for temporary files
   * @param time milliseconds that a statement may take
   * @param isolations those that may be chosen, the strongest first; all by default
   * @param program of the process of a statement
   */
  static async open(
    parent: string,
    time: number,
    { isolations, program = CAGE }: { isolations?: readonly Isolation[]; program?: string } = {},
  ): Promise<Sandbox> {
    const folder = await ProcessFolder.take(parent);
    const isolation = await findIsolation(await emptyFolder(folder), folder.path, isolations);
    if (isolation !== undefined) return new Sandbox({ isolation, program }, folder, time);
    await folder.remove();
    throw new Error('ORDINATE_SQL needs Linux, where the service can limit its processes (ulimit); set it to off.');
  }

  /** Runs a statement. Read the rows to the end, or return from them: the process holds its slot until then. */
  async run(request: SandboxRequest): Promise<SandboxAnswer> {
    const { signal, workspace } = request;
    const leave = await this.#enter(workspace, signal);
    let process: StatementProcess;
    try {
      process = await this.#pool.take(workspace);
    } catch (error) {
      leave();
      throw error;
    }
    let stopped: KnownError | undefined;
    const stop = (why?: KnownError): void => {
      stopped ??= why;
      process.kill();
    };
    const onAbort = (): void => stop();
    this.#stops.add(stop);
    signal.addEventListener('abort', onAbort, { once: true });
    let timer = setTimeout(() => stop(tooLong(this.#time)), this.#time);
    let isKept = false;
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#stops.delete(stop);
      leave();
    };
    void process.ended.then(() => {
      if (isKept) return;
      finish();
      this.#pool.prepare().catch(() => {});
    });
    try {
      signal.throwIfAborted();
      const { sql, parameters, limit, project, tables } = request;
      process.send({ sql, parameters, limit, project, tables, folder: process.files });
      let message = await process.message();
      if (message !== undefined && 'needs' in message) {
        process.send(
          await request.open(message.needs, { files: process.files, isReadOnly: this.isolation === 'namespaces' }),
        );
        message = await process.message();
      }
      signal.throwIfAborted();
      if (stopped !== undefined) throw stopped;
      if (message === undefined) throw tooLarge();
      if ('refused' in message && message.isReady) {
        isKept = true;
        finish();
        this.#pool.giveBack(process, workspace);
      }
      if (!('columns' in message))
        throw invalidRequest('refused' in message ? message.refused : 'The statement cannot run.');
      clearTimeout(timer);
      timer = setTimeout(stop, MAX_READING);
      const { columns, truncated, rows: count, bytes } = message;
      return { columns, truncated, count, rows: process.bytes(bytes) };
    } catch (error) {
      if (!isKept) stop();
      throw error;
    }
  }

  /** Statements that run and wait, for metrics. */
  get state(): LimitState {
    return this.#slots.state;
  }

  /** Kills all statements, and waits until they have ended. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop(stopping());
    await this.#pool.close();
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

/** A statement took more than it may. */
export class StoppedStatement extends KnownError {
  constructor(why: string) {
    super('invalid_request', `${why}; let it read less, or aggregate earlier.`);
  }
}

function busy(): KnownError {
  return new KnownError('unavailable', 'Other statements run; try again in a few seconds.', {
    retryAfter: 5,
    reason: 'busy-statements',
  });
}

function tooLong(time: number): KnownError {
  return new StoppedStatement(`The statement was stopped after ${time / 1000} s`);
}

function tooLarge(): KnownError {
  return new StoppedStatement('The statement needs more memory than it may use');
}
