import { setTimeout as sleep } from 'node:timers/promises';

/** An answer that is not what it must be. */
export class Unexpected extends Error {}

/** An answer that is documented to be possible at any time: 503 with Retry-After. */
export class Refused extends Error {}

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** What the soak reads of answers; each has only some of it. */
interface Body {
  readonly daily: Rows;
  readonly queries: Rows;
  readonly pages: Rows;
  readonly paging: { readonly total: number };
  readonly projects: readonly { readonly id: string; readonly totals: { readonly clicks: number } }[];
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

interface Sent {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly statuses?: readonly number[];
  readonly signal?: AbortSignal;
}

/** Sends requests with the keys of a workspace in turn. */
export class Client {
  readonly #address: URL;
  readonly #keys: readonly string[];
  #next = 0;

  constructor(address: URL, keys: readonly string[]) {
    this.#address = address;
    this.#keys = keys;
  }

  key(): string {
    return this.#keys[this.#next++ % this.#keys.length]!;
  }

  /** `METHOD PATH`, or a path of the API to get. Throws unless the status is one of these. */
  async send(what: string, { key = this.key(), headers, statuses = [200], ...rest }: Sent = {}): Promise<Answer> {
    const [method, path] = what.startsWith('/') ? ['GET', `/api/v1${what}`] : (what.split(' ') as [string, string]);
    const own = key === '' ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(new URL(path, this.#address), {
      method,
      headers: { ...own, ...headers },
      redirect: 'manual',
      ...rest,
    });
    const text = await response.text();
    const { status } = response;
    const pause = response.headers.get('retry-after');
    if (statuses.includes(status)) {
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return { status, headers: response.headers, text, body: (isJson ? JSON.parse(text) : {}) as Body };
    }
    if (status === 429 && pause !== null) {
      await sleep(1000 * Number(pause));
      throw new Refused(text);
    }
    if (status === 503 && pause !== null && text.includes('"unavailable"')) throw new Refused(text);
    throw new Unexpected(`${what.slice(0, 200)}: ${status}, not ${statuses.join(' or ')}: ${text.slice(0, 300)}`);
  }
}
