import type { ProcessFolder } from '../runtime/process-folder.ts';
import type { Cage } from './launch.ts';
import { StatementProcess } from './statement-process.ts';

/** Milliseconds that a process waits for a statement. */
const MAX_IDLE = 30_000;
/** Processes that wait, at most. */
const MAX_WAITING = 2;
/** Statements that a process may refuse: its processor time is limited. */
const MAX_REFUSED = 50;

interface Waiting {
  readonly process: StatementProcess;
  /** Whose statements it has refused; undefined for a new one, which waits for anybody. */
  readonly workspace: string | undefined;
  readonly timer: NodeJS.Timeout;
}

/**
 * Starts processes for statements, and has them wait for the next one. A process runs one statement. One that has refused a
 * statement has run nothing, and waits for another of the same workspace.
 */
export class ProcessPool {
  readonly #cage: Cage;
  readonly #folder: ProcessFolder;
  readonly #waiting = new Set<Waiting>();
  readonly #refused = new WeakMap<StatementProcess, number>();
  readonly #running = new Set<StatementProcess>();
  #isClosed = false;

  constructor(cage: Cage, folder: ProcessFolder) {
    this.#cage = cage;
    this.#folder = folder;
  }

  /** A process for a statement of a workspace. */
  async take(workspace: string): Promise<StatementProcess> {
    const found = [...this.#waiting].filter((one) => one.workspace === workspace || one.workspace === undefined);
    const best = found.find((one) => one.workspace === workspace) ?? found[0];
    if (best === undefined) return this.#start();
    this.#leave(best);
    return best.process;
  }

  /** Takes back a process that has refused a statement. */
  giveBack(process: StatementProcess, workspace: string): void {
    const refused = (this.#refused.get(process) ?? 0) + 1;
    this.#refused.set(process, refused);
    if (refused >= MAX_REFUSED) process.kill();
    else this.#wait(process, workspace);
  }

  /** Starts a process ahead of the next statement. */
  async prepare(): Promise<void> {
    if (this.#isClosed || this.#waiting.size >= MAX_WAITING) return;
    if ([...this.#waiting].some(({ workspace }) => workspace === undefined)) return;
    this.#wait(await this.#start(), undefined);
  }

  /** Kills all processes, and waits until they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const one of this.#waiting) this.#leave(one);
    for (const process of this.#running) process.kill();
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }

  async #start(): Promise<StatementProcess> {
    const process = await StatementProcess.start(this.#cage, this.#folder);
    this.#running.add(process);
    void process.ended.then(() => this.#running.delete(process));
    if (this.#isClosed) process.kill();
    return process;
  }

  #wait(process: StatementProcess, workspace: string | undefined): void {
    const timer = setTimeout(() => {
      this.#leave(one);
      process.kill();
    }, MAX_IDLE).unref();
    const one: Waiting = { process, workspace, timer };
    this.#waiting.add(one);
    void process.ended.then(() => this.#leave(one));
    const [oldest] = this.#waiting;
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) {
      this.#leave(oldest);
      oldest.process.kill();
    }
  }

  #leave(one: Waiting): void {
    clearTimeout(one.timer);
    this.#waiting.delete(one);
  }
}
