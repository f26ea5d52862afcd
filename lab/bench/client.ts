import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { timed } from './rounds.ts';

/**
 * A client with one connection, which sends one request after the other with its keys in turn. It only counts the bytes of
 * an answer: on a machine with few cores, all else takes processor time from the server that is measured.
 */
export class Client {
  readonly #address: URL;
  readonly #keys: readonly string[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #sent = 0;

  constructor(address: URL, keys: readonly string[]) {
    this.#address = address;
    this.#keys = keys;
  }

  /** Milliseconds from a request to its last byte. Waits before, not meanwhile, where the keys have no requests left. */
  async time(path: string): Promise<number> {
    for (;;) {
      let response: IncomingMessage | undefined;
      const ms = await timed(async () => {
        response = await this.#get(path);
        for await (const _ of response);
      });
      if (response!.statusCode === 200) return ms;
      if (response!.statusCode !== 429) throw new Error(`${path} was answered with ${response!.statusCode}.`);
      await sleep(1000 * Number(response!.headers['retry-after']));
    }
  }

  async json<Body>(path: string): Promise<Body> {
    return JSON.parse(Buffer.concat(await (await this.#get(path)).toArray()).toString()) as Body;
  }

  close(): void {
    this.#agent.destroy();
  }

  #get(path: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${this.#keys[this.#sent++ % this.#keys.length]}` };
    return new Promise((resolve, reject) => {
      get(new URL(`/api/v1${path}`, this.#address), { agent: this.#agent, headers }, resolve).once('error', reject);
    });
  }
}
