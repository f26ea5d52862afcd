import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../free-port.ts';

/** The program, or that of Valkey. */
const PROGRAM = process.env['REDIS_SERVER'] || 'redis-server';

/** Whether the program can be run. */
export function hasRedisServer(): boolean {
  return spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A Redis of its own, without files. */
export class Redis {
  readonly #port: number;
  readonly #password: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, password: string) {
    this.#port = port;
    this.#password = password;
  }

  /** Starts one on a free port. */
  static async start(password = ''): Promise<Redis> {
    const redis = new Redis(await freePort(), password);
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://${this.#password && `:${this.#password}@`}127.0.0.1:${this.#port}`;
  }

  /** Starts it again after `stop`, empty. */
  async start(): Promise<void> {
    const words = ['--bind', '127.0.0.1', '--port', String(this.#port), '--save', '', '--appendonly', 'no'];
    if (this.#password) words.push('--requirepass', this.#password);
    const started = spawn(PROGRAM, words, { stdio: 'ignore' });
    this.#process = started;
    const failed = once(started, 'exit').then(([code]) => {
      throw new Error(`${PROGRAM} ended with ${code}`);
    });
    await Promise.race([this.#listens(), failed]);
    failed.catch(() => {});
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  /** Connections stay, but nothing is answered. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async #listens(): Promise<void> {
    for (;;) {
      const socket = connect(this.#port, '127.0.0.1');
      const isListening = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      if (isListening) return;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}
