import { createClient, defineScript } from '@redis/client';
import type { FastifyBaseLogger } from 'fastify';
import type { Counted, WindowCounter } from './fixed-windows.ts';

/** How long a request waits for Redis, in milliseconds. */
const TIMEOUT = 250;
/** How long a new connection may take, in milliseconds. No request waits for one. */
const CONNECT_TIMEOUT = 2000;
/** Pause before Redis is tried again, in milliseconds. */
const RETRY = 1000;
const PREFIX = 'ordinate:limits:';

/** Counts a key in a window that starts with its first request. Returns the count and the milliseconds until it ends. */
const COUNT = defineScript({
  SCRIPT: `
    local length = tonumber(ARGV[1])
    local ttl = redis.call('PTTL', KEYS[1])
    if ttl <= 0 or ttl > length then
      redis.call('SET', KEYS[1], 1, 'PX', length)
      return { 1, length }
    end
    return { redis.call('INCR', KEYS[1]), ttl }`,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key: string, length: number) {
    parser.pushKey(key);
    parser.push(String(length));
  },
  transformReply: (reply: unknown) => reply as readonly [current: number, ttl: number],
});

interface RedisWindowsOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
}

/** Whether requests are counted in Redis or in memory. */
export interface LimitsState {
  /** Whether Redis is unavailable. */
  readonly isAway: boolean;
  /** Requests that were counted in memory instead. */
  readonly inMemory: number;
}

/**
 * Counts requests in Redis, for all servers that use it. While Redis is away or slow, requests are counted in memory;
 * then a request waits for it only once, and no request fails because of it.
 */
export class RedisWindows {
  readonly #options: RedisWindowsOptions;
  /** The connection, while Redis counts. */
  #client: Client | undefined;
  #isClosed = false;
  #isReported = false;
  #inMemory = 0;
  #retry: NodeJS.Timeout | undefined;

  private constructor(options: RedisWindowsOptions) {
    this.#options = options;
  }

  /** Connects to Redis. Counts in memory for now if that fails. */
  static async open(options: RedisWindowsOptions): Promise<RedisWindows> {
    const windows = new RedisWindows(options);
    await windows.#connect();
    return windows;
  }

  get state(): LimitsState {
    return { isAway: this.#client === undefined, inMemory: this.#inMemory };
  }

  /** A counter with a child for each limit. All servers create the children in the same order. */
  counter(memory: WindowCounter, limit = ''): WindowCounter {
    let children = 0;
    return {
      incr: (key, done, length) => {
        const count = async (): Promise<void> => {
          const counted = await this.#count(`${PREFIX}${limit}:${key}`, length);
          if (counted !== undefined) return done(null, counted);
          this.#inMemory++;
          memory.incr(key, done, length);
        };
        void count();
      },
      child: () => this.counter(memory.child(), `${limit}.${children++}`),
    };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#client?.destroy();
  }

  /** Undefined if Redis is unavailable. */
  async #count(key: string, length: number): Promise<Counted | undefined> {
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      const [current, ttl] = await within(TIMEOUT, client.count(key, length));
      return { current, ttl };
    } catch (error) {
      this.#lose(client, error as Error);
      return undefined;
    }
  }

  async #connect(): Promise<void> {
    const client = newClient(this.#options.url);
    client.on('error', (error: Error) => this.#lose(client, error));
    try {
      await within(CONNECT_TIMEOUT, client.connect());
      // Tests all that counting requires: scripts and write permission.
      await within(TIMEOUT, client.count(`${PREFIX}test`, 1));
    } catch (error) {
      if (client.isOpen) client.destroy();
      this.#report(error as Error);
      this.#retryLater();
      return;
    }
    if (this.#isClosed) return client.destroy();
    this.#client = client;
    if (this.#isReported) this.#options.log.info({ redis: this.#address }, 'limits are counted in Redis again');
    this.#isReported = false;
  }

  /** Counts in memory from now on, until Redis counts again. */
  #lose(client: Client, error: Error): void {
    if (client !== this.#client || this.#isClosed) return;
    this.#client = undefined;
    // Rejects the pending commands of other requests.
    if (client.isOpen) client.destroy();
    this.#report(error);
    this.#retryLater();
  }

  #retryLater(): void {
    if (!this.#isClosed) this.#retry = setTimeout(() => void this.#connect(), RETRY).unref();
  }

  #report(error: Error): void {
    if (this.#isReported || this.#isClosed) return;
    this.#isReported = true;
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message || code;
    this.#options.log.warn(
      { redis: this.#address, reason },
      'limits are counted in memory, because Redis does not count',
    );
  }

  /** Without user and password. */
  get #address(): string {
    const { protocol, host, pathname } = new URL(this.#options.url);
    return `${protocol}//${host}${pathname}`;
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(url: string) {
  return createClient({
    url,
    scripts: { count: COUNT },
    RESP: 2,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // A lost connection is replaced by a new client.
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT },
  });
}

/** Rejects after some milliseconds. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const fail = () => reject(new Error(`no answer within ${milliseconds} ms`));
  // If this process was paused, a response that has arrived is read before the timeout applies.
  const timer = setTimeout(() => setImmediate(fail), milliseconds);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
