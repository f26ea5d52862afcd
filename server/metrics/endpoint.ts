import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from '../runtime/http.ts';
import type { Settings } from '../settings/settings.ts';

type Listening = Pick<Settings, 'metricsPort' | 'metricsHost' | 'metricsSocket'>;

export interface EndpointOptions {
  readonly settings: Listening;
  readonly contentType: string;
  /** Reads texts of metrics, by path. */
  readonly texts: Readonly<Record<string, () => Promise<string>>>;
  /** Called with the error of a failed read. */
  readonly onError: (error: unknown) => void;
}

/** Whether metrics are served anywhere. */
export function isMeasured({ metricsPort, metricsSocket }: Listening): boolean {
  return metricsPort !== 'off' || metricsSocket !== '';
}

/** Serves metrics on their own port and Unix socket, without a key. */
export class MetricsEndpoint {
  readonly #options: EndpointOptions;
  readonly #servers: Server[] = [];
  readonly #reading = new Map<string, Promise<string>>();

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Listens; returns the addresses. Throws if an address is in use. */
  async listen(): Promise<string[]> {
    const { metricsPort: port, metricsHost: host, metricsSocket: path } = this.#options.settings;
    const addresses: string[] = [];
    if (port !== 'off') {
      const server = await this.#start({ port, host }, `ORDINATE_METRICS_PORT: port ${port} of ${host}`);
      const { port: taken } = server.address() as AddressInfo;
      addresses.push(`http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`);
    }
    if (path !== '') {
      await removeStale(path);
      await this.#start({ path }, `ORDINATE_METRICS_SOCKET: '${path}'`);
      addresses.push(`unix:${path}`);
    }
    return addresses;
  }

  async close(): Promise<void> {
    for (const server of this.#servers.splice(0)) {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    }
  }

  async #start(where: { port: number; host: string } | { path: string }, what: string): Promise<Server> {
    const server = createServer((request, response) => {
      void this.#answer(request.method ?? '', request.url ?? '', response);
    });
    server.listen(where);
    try {
      await once(server, 'listening');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const problem = code === 'EADDRINUSE' ? 'is in use already' : `cannot be listened on (${code})`;
      throw new Error(`${what} ${problem}; choose another one.`, { cause });
    }
    this.#servers.push(server);
    return server;
  }

  async #answer(method: string, url: string, response: ServerResponse): Promise<void> {
    const send = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(method === 'HEAD' ? undefined : text);
    };
    const plain = 'text/plain; charset=utf-8';
    if (method !== 'GET' && method !== 'HEAD') return send(405, plain, 'Metrics answer GET and HEAD only.\n');
    const path = url.split('?', 1)[0]!;
    const { texts } = this.#options;
    const read = Object.hasOwn(texts, path) ? texts[path] : undefined;
    if (read === undefined) return send(404, plain, `The metrics are at ${Object.keys(texts).join(' and ')}.\n`);
    try {
      send(200, this.#options.contentType, await this.#read(path, read));
    } catch (error) {
      this.#options.onError(error);
      send(500, plain, 'The metrics could not be read; the log has the reason.\n');
    }
  }

  /** Concurrent requests share a read. */
  #read(path: string, read: () => Promise<string>): Promise<string> {
    let reading = this.#reading.get(path);
    if (reading === undefined) {
      reading = read().finally(() => this.#reading.delete(path));
      this.#reading.set(path, reading);
    }
    return reading;
  }
}

/** Removes the socket of a process that was killed. Keeps a socket that still listens, and other files. */
async function removeStale(path: string): Promise<void> {
  // Connecting to another file fails in the same way.
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return;
  const socket = connect(path);
  const isStale = await once(socket, 'connect').then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
  );
  socket.destroy();
  if (isStale) await rm(path, { force: true });
}
