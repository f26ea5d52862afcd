import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type BodyReader, ChunkedBody, SizedBody } from './http-body.ts';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes of the body as they came. */
  readonly bytes: number;
  /** Milliseconds from the request to the first byte of the body. */
  readonly firstByte: number;
  /** Milliseconds from the request to the last byte. */
  readonly ms: number;
  /** Only when it was to be kept. */
  readonly body?: Buffer;
}

interface Asked {
  readonly at: number;
  readonly keep: boolean;
  readonly done: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
  head: Buffer;
  status?: number;
  headers?: ReadonlyMap<string, string>;
  reader?: BodyReader;
  firstByte?: number;
  bytes: number;
  kept: Buffer[];
}

/**
 * One kept-alive HTTP connection that asks one thing at a time and does nothing with the answer but count it: on a
 * machine of few cores a full client would take from the server what is to be measured.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #asked: Asked | undefined;

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

  /** Asks for a path. Rejects when the connection breaks before the answer has ended. */
  ask(path: string, headers: Readonly<Record<string, string>> = {}, keep = false): Promise<Answer> {
    const lines = Object.entries({ host: this.#host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    return new Promise<Answer>((done, fail) => {
      this.#asked = { at: performance.now(), keep, done, fail, head: Buffer.alloc(0), bytes: 0, kept: [] };
      this.#socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    try {
      const body = asked.reader === undefined ? readHead(asked, bytes) : bytes;
      if (body.length > 0) asked.firstByte ??= performance.now() - asked.at;
      if (asked.reader instanceof SizedBody) count(asked, body);
      if (asked.reader?.take(body) === true) this.#end(asked);
    } catch (error) {
      this.#fail(error as Error);
      this.close();
    }
  }

  #end(asked: Asked): void {
    this.#asked = undefined;
    const ms = performance.now() - asked.at;
    const { status = 0, headers = new Map<string, string>(), bytes, firstByte = ms } = asked;
    asked.done({
      status,
      headers,
      bytes,
      firstByte,
      ms,
      ...(asked.keep ? { body: Buffer.concat(asked.kept) } : {}),
    });
  }

  #fail(error: Error): void {
    this.#asked?.fail(error);
    this.#asked = undefined;
  }
}

function count(asked: Asked, bytes: Buffer): void {
  asked.bytes += bytes.length;
  if (asked.keep) asked.kept.push(bytes);
}

/** Reads the head of the answer; returns what came behind it. */
function readHead(asked: Asked, bytes: Buffer): Buffer {
  asked.head = Buffer.concat([asked.head, bytes]);
  const end = asked.head.indexOf('\r\n\r\n');
  if (end === -1) return Buffer.alloc(0);
  const [first = '', ...lines] = asked.head.toString('latin1', 0, end).split('\r\n');
  asked.status = Number(first.split(' ')[1]);
  asked.headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  asked.reader =
    asked.headers.get('transfer-encoding') === 'chunked'
      ? new ChunkedBody((content) => count(asked, content))
      : new SizedBody(Number(asked.headers.get('content-length')));
  return asked.head.subarray(end + 4);
}
