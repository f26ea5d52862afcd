import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { API } from '../bench-context.ts';
import { Connection } from '../connection.ts';
import type { KeyRing } from '../keys.ts';

/** An answer that is not what it must be. */
export class Unexpected extends Error {}

/** An answer that is documented to be possible at any time: 503 with Retry-After. */
export class Refused extends Error {}

export interface Got {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** Milliseconds: when the request was sent and its answer complete. */
  readonly start: number;
  readonly end: number;
}

type HeaderFields = Readonly<Record<string, string>>;

/** A client of the server: fetch, which takes compressed answers, and bare sockets for what fetch does not send. */
export class SoakClient {
  readonly #address: URL;
  readonly #keys: KeyRing;

  constructor(address: URL, keys: KeyRing) {
    this.#address = address;
    this.#keys = keys;
  }

  async key(): Promise<string> {
    return (await this.#keys.take(1))[0]!;
  }

  /** A path of the API, with a key. Throws unless the status is 200 or one of `others`. */
  async api(
    path: string,
    { headers = {}, others = [] }: { headers?: HeaderFields; others?: number[] } = {},
  ): Promise<Got> {
    return expectStatus(
      await this.send('GET', API + path, { authorization: `Bearer ${await this.key()}`, ...headers }),
      [200, ...others],
    );
  }

  /** Any request, whatever its answer is. */
  async send(method: string, path: string, headers: HeaderFields = {}, body?: string): Promise<Got> {
    const start = performance.now();
    const answer = await fetch(new URL(path, this.#address), {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { path, status: answer.status, headers: answer.headers, bytes, start, end: performance.now() };
  }

  /** Sends a path as it is, without making it a URL first. */
  async raw(path: string): Promise<{ status: number; body: string }> {
    const connection = await Connection.open(this.#address);
    try {
      const { status, body } = await connection.get(path, { authorization: `Bearer ${await this.key()}` }, true);
      return { status, body: String(body) };
    } finally {
      connection.close();
    }
  }

  /** Sends a request and hangs up after some milliseconds. */
  async abort(path: string, after: number): Promise<void> {
    const key = await this.key();
    const socket = connect(Number(this.#address.port), this.#address.hostname);
    socket.on('error', () => {});
    socket.write(`GET ${API}${path} HTTP/1.1\r\nhost: ${this.#address.host}\r\nauthorization: Bearer ${key}\r\n\r\n`);
    await sleep(after);
    socket.destroy();
  }
}

/** Throws `Refused` for 503 with Retry-After, and `Unexpected` for any other status that is not one of these. */
export function expectStatus(got: Got, statuses: readonly number[]): Got {
  if (statuses.includes(got.status)) return got;
  const text = got.bytes.toString().slice(0, 300);
  if (got.status === 503 && got.headers.has('retry-after') && text.includes('"unavailable"')) throw new Refused(text);
  throw new Unexpected(`${got.path} was answered with ${got.status}, not ${statuses.join(' or ')}: ${text}`);
}
