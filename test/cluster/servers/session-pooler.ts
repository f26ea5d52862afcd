import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';

/** Stands between Ordinate and PostgreSQL, as a pooler by session does, and closes connections that are idle. */
export class SessionPooler {
  readonly #server: Server;
  readonly #open = new Map<Socket, Socket>();

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const database = connect(Number(target.port), target.hostname);
      this.#open.set(client, database);
      for (const [from, to] of [
        [client, database],
        [database, client],
      ] as const) {
        from.on('error', () => {});
        from.on('close', () => to.destroy());
        from.pipe(to);
      }
      client.on('close', () => this.#open.delete(client));
    });
  }

  static async start(t: Test, target: string): Promise<SessionPooler> {
    const pooler = new SessionPooler(new URL(target));
    await new Promise<void>((listening) => void pooler.#server.listen(0, '127.0.0.1', listening));
    t.teardown(() => {
      pooler.closeIdle('reset');
      pooler.#server.close();
    });
    return pooler;
  }

  /** The address of a database through it. */
  through(url: string): string {
    const passed = new URL(url);
    passed.hostname = '127.0.0.1';
    passed.port = String((this.#server.address() as AddressInfo).port);
    return passed.href;
  }

  /** Closes all connections; `unnoticed`: their clients find out when they send something. Returns how many. */
  closeIdle(how: 'end' | 'reset' | 'unnoticed'): number {
    const clients = [...this.#open];
    for (const [client, database] of clients) {
      if (how === 'end') client.end();
      else if (how === 'reset') client.resetAndDestroy();
      else {
        client.unpipe(database);
        client.once('data', () => client.resetAndDestroy());
        client.resume();
      }
    }
    return clients.length;
  }
}
