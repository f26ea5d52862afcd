import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver that knows what it got, and whether it got something twice at a time. */
export class Receiver {
  readonly bodies = new Map<string, string>();
  received = 0;
  differing = 0;
  twiceAtATime = 0;
  readonly #open = new Map<string, number>();
  readonly #server: HttpServer;
  /** Milliseconds until it answers. */
  #delay: () => number;

  constructor(delay: () => number) {
    this.#delay = delay;
    this.#server = createServer((request, response) => {
      const id = String(request.headers['webhook-id']);
      const before = this.#open.get(id) ?? 0;
      if (before > 0) this.twiceAtATime++;
      this.#open.set(id, before + 1);
      response.on('close', () => this.#open.set(id, this.#open.get(id)! - 1));
      let body = '';
      request.on('data', (part: Buffer) => {
        body += String(part);
      });
      request.on('end', () => {
        this.received++;
        if (this.bodies.has(id) && this.bodies.get(id) !== body) this.differing++;
        this.bodies.set(id, body);
        setTimeout(() => response.writeHead(204).end(), this.#delay());
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => void this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
