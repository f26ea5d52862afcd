import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

export const isInstalled = (program: string, ...words: readonly string[]): boolean =>
  spawnSync(program, words, { stdio: 'ignore' }).status === 0;

/** How long a server may take to start, in milliseconds: on a busy machine some need minutes. */
const START_TIMEOUT = 600_000;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** A server that tests start, stop, pause and start again. */
export abstract class Program {
  readonly #words: readonly [string, ...string[]];
  readonly #options: SpawnOptions;
  #process: ChildProcess | undefined;

  protected constructor(words: readonly [string, ...string[]], options: SpawnOptions = {}) {
    this.#words = words;
    this.#options = options;
  }

  protected get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts it, also after `stop`; waits until it answers. */
  async start(): Promise<void> {
    const [program, ...words] = this.#words;
    const started = spawn(program, words, { stdio: 'ignore', ...this.#options });
    this.#process = started;
    const isSilent = () =>
      this.answers().then(
        () => false,
        () => true,
      );
    for (const deadline = performance.now() + START_TIMEOUT; await isSilent(); ) {
      if (hasEnded(started)) throw new Error(`${program} ended with ${started.exitCode ?? started.signalCode}`);
      if (performance.now() > deadline) throw new Error(`${program} did not answer within ten minutes`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Rejects while it does not answer. */
  protected abstract answers(): Promise<unknown>;

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || hasEnded(running)) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  }

  /** Connections stay, but nothing is answered. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }
}
