import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../free-port.ts';
import { isInstalled, Program } from './program.ts';

/** The program, or that of Valkey. */
const PROGRAM = process.env['REDIS_SERVER'] || 'redis-server';

export const hasRedisServer = (): boolean => isInstalled(PROGRAM, '--version');

/** A Redis of its own, without files: it is empty after each start. */
export class Redis extends Program {
  readonly url: string;
  readonly #port: number;

  private constructor(port: number, password: string) {
    const words = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
    super([PROGRAM, ...words, ...(password ? ['--requirepass', password] : [])]);
    this.#port = port;
    this.url = `redis://${password && `:${password}@`}127.0.0.1:${port}`;
  }

  static async make(password = ''): Promise<Redis> {
    const redis = new Redis(await freePort(), password);
    await redis.start();
    return redis;
  }

  protected async answers(): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  }
}
