import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type BodyReader, ChunkedBody, SizedBody } from './http-body.ts';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Length of the body, as sent. */
  readonly bytes: number;
  /** Milliseconds from the request to the first byte of the body. */
  readonly firstByte: number;
  /** Milliseconds from the request to the last byte. */
  readonly ms: number;
  /** Only with `keepBody`. */
  readonly body?: Buffer;
}

interface PendingRequest {
  readonly at: number;
  readonly keepBody: boolean;
  readonly done: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
  head: Buffer;
  status?: number;
  headers?: ReadonlyMap<string, string>;
  reader?: BodyReader;
  firstByte?: number;
  bytes: number;
  bodyParts: Buffer[];
}

/**
 * One kept-alive HTTP connection that sends one request at a time and only counts the bytes of the answer: on a machine
 * with few cores a full client would take processor time from the server that is measured.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #pending: PendingRequest | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay();
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('The connection broke before the answer had ended.')));
  }

  static async open(address: URL): Promise<Connection> {
    const socket = connect(Number(address.port), address.hostname);
    await once(socket, 'connect');
    return new Connection(socket, address.host);
  }

  /** Requests a path. Rejects if the connection breaks before the answer has ended. */
  get(path: string, headers: Readonly<Record<string, string>> = {}, keepBody = false): Promise<Answer> {
    const lines = Object.entries({ host: this.#host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    return new Promise<Answer>((done, fail) => {
      this.#pending = { at: performance.now(), keepBody, done, fail, head: Buffer.alloc(0), bytes: 0, bodyParts: [] };
      this.#socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    try {
      const body = pending.reader === undefined ? readHead(pending, bytes) : bytes;
      if (body.length > 0) pending.firstByte ??= performance.now() - pending.at;
      if (pending.reader instanceof SizedBody) count(pending, body);
      if (pending.reader?.take(body) === true) this.#end(pending);
    } catch (error) {
      this.#fail(error as Error);
      this.close();
    }
  }

  #end(pending: PendingRequest): void {
    this.#pending = undefined;
    const ms = performance.now() - pending.at;
    const { status = 0, headers = new Map<string, string>(), bytes, firstByte = ms } = pending;
    pending.done({
      status,
      headers,
      bytes,
      firstByte,
      ms,
      ...(pending.keepBody ? { body: Buffer.concat(pending.bodyParts) } : {}),
    });
  }

  #fail(error: Error): void {
    this.#pending?.fail(error);
    this.#pending = undefined;
  }
}

function count(pending: PendingRequest, bytes: Buffer): void {
  pending.bytes += bytes.length;
  if (pending.keepBody) pending.bodyParts.push(bytes);
}

/** Reads the head of the answer; returns the bytes after it. */
function readHead(pending: PendingRequest, bytes: Buffer): Buffer {
  pending.head = Buffer.concat([pending.head, bytes]);
  const end = pending.head.indexOf('\r\n\r\n');
  if (end === -1) return Buffer.alloc(0);
  const [first = '', ...lines] = pending.head.toString('latin1', 0, end).split('\r\n');
  pending.status = Number(first.split(' ')[1]);
  pending.headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  pending.reader =
    pending.headers.get('transfer-encoding') === 'chunked'
      ? new ChunkedBody((content) => count(pending, content))
      : new SizedBody(pending.status === 304 ? 0 : Number(pending.headers.get('content-length')));
  return pending.head.subarray(end + 4);
}
