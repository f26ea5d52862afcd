import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';

/** versitygw, which serves the S3 protocol over a folder. */
const PROGRAM = process.env['S3_SERVER'] || 'versitygw';

export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'access-key-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-key-of-tests' };

/** Whether the program can be run. */
export function hasS3Server(): boolean {
  return spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** An S3 server of its own; each folder in its folder is a bucket. */
export class S3Server {
  readonly endpoint: string;
  readonly folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.#port = port;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  static async start(folder: string, bucket: string): Promise<S3Server> {
    mkdirSync(join(folder, bucket), { recursive: true });
    const server = new S3Server(folder, await freePort());
    await server.start();
    return server;
  }

  /** Undefined while it is stopped. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts it again after `stop`. */
  async start(): Promise<void> {
    const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = S3_KEYS;
    const keys = ['--access', access, '--secret', secret, '--region', 'us-east-1'];
    const words = [...keys, '--port', `127.0.0.1:${this.#port}`, '--keep-alive', '--quiet', 'posix', this.folder];
    const started = spawn(PROGRAM, words, { stdio: 'ignore' });
    this.#process = started;
    const failed = once(started, 'exit').then(([code]) => {
      throw new Error(`${PROGRAM} ended with ${code}`);
    });
    failed.catch(() => {});
    await Promise.race([this.#answers(), failed]);
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  async #answers(): Promise<void> {
    for (;;) {
      const isThere = await fetch(this.endpoint).then(
        () => true,
        () => false,
      );
      if (isThere) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
