import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/**
 * What happens to a request:
 * - `error`: it is answered with 500;
 * - `silent`: it is never answered;
 * - `cut`: the connection ends in the middle of the answer;
 * - `wrong`: one bit of the answer is another;
 * - `held`: it is passed on when `release` is called.
 */
export type Fault = 'error' | 'silent' | 'cut' | 'wrong' | 'held';

/** Stands between Ordinate and an object store, and disturbs their connections. */
export class FaultyProxy {
  readonly requests: { readonly method: string; readonly path: string }[] = [];
  /** Chooses the fault of a request; undefined for none. */
  fault: (method: string, path: string) => Fault | undefined = () => undefined;
  readonly #server: Server;
  readonly #target: URL;
  readonly #held: (() => void)[] = [];

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, answer) => this.#handle(incoming, answer));
  }

  static async start(t: Test, target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((listening) => void proxy.#server.listen(0, '127.0.0.1', listening));
    t.teardown(() => {
      proxy.#server.closeAllConnections();
      proxy.#server.close();
    });
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many requests are held. */
  get held(): number {
    return this.#held.length;
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  #handle(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method = '', url: path = '' } = incoming;
    this.requests.push({ method, path });
    const fault = this.fault(method, path);
    if (fault === 'silent') return;
    if (fault === 'error') {
      incoming.resume();
      answer.writeHead(500, { 'content-type': 'application/xml' });
      answer.end('<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>');
      return;
    }
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    // Whole, so that what is held arrives even if its sender is killed.
    incoming.on('end', () => {
      const go = (): void => this.#pass(incoming, Buffer.concat(parts), answer, fault);
      if (fault === 'held') this.#held.push(go);
      else go();
    });
  }

  #pass(incoming: IncomingMessage, content: Buffer, answer: ServerResponse, fault: Fault | undefined): void {
    const { method, url: path, headers } = incoming;
    // The name of the host is part of the signature.
    const passed = request({ hostname: this.#target.hostname, port: this.#target.port, method, path, headers });
    passed.on('error', () => answer.destroy());
    passed.end(content);
    passed.on('response', (found) => {
      answer.writeHead(found.statusCode!, found.headers);
      if (fault === undefined || fault === 'held') {
        found.pipe(answer);
        return;
      }
      const parts: Buffer[] = [];
      found.on('data', (part: Buffer) => parts.push(part));
      found.on('end', () => {
        const body = Buffer.concat(parts);
        const half = Math.floor(body.length / 2);
        if (fault === 'wrong') {
          if (body.length > 0) body[half]! ^= 1;
          answer.end(body);
        } else {
          answer.write(body.subarray(0, half), () => answer.destroy());
        }
      });
    });
  }
}
