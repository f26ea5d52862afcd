import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Host } from '../host.ts';

/** What a link tells its database. */
export interface Peer {
  /** Something is to be sent. */
  send(link: Link, label: string): void;
  /** The server has said something. */
  changed(): void;
}

/** Of a message: its type and its length. */
const HEAD = 5;

/**
 * A connection of a simulated process to a real server. The driver sees a socket, whose bytes travel by events; the server
 * sees a client that sends some statements and waits for all answers.
 */
export class Link {
  readonly host: Host;
  /** What the driver has. */
  readonly stream: Duplex;
  /** The server's process for it; undefined until it has told. */
  pid: number | undefined;
  /** The server has closed it. */
  isClosed = false;
  isDelivering = false;
  /** Milliseconds; 0 for none. */
  lockTimeout = 0;
  /** Statements that were answered. */
  answered = 0;
  /** The statement that waits for a lock, as a value of `answered`. */
  waitsAt: number | undefined;
  /** Statements that were answered since somebody looked. */
  readonly done: string[] = [];
  readonly #peer: Peer;
  readonly #socket: Socket;
  readonly #sent: string[] = [];
  #outbox: Buffer[] = [];
  #inbox: Buffer[] = [];
  #rest = Buffer.alloc(0);
  #hasStarted = false;
  #isEnding = false;
  #hasEnded = false;

  private constructor(host: Host, stream: Duplex, peer: Peer, socket: Socket) {
    this.host = host;
    this.stream = stream;
    this.#peer = peer;
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
      peer.changed();
    });
  }

  static async open(host: Host, stream: Duplex, peer: Peer, to: { port: number; host: string }): Promise<Link> {
    const socket = connect(to);
    await once(socket, 'connect');
    return new Link(host, stream, peer, socket);
  }

  /** The server works for it, or waits for a lock. */
  get isBusy(): boolean {
    return !this.isClosed && (this.#sent.length > 0 || this.#isEnding);
  }

  get hasNews(): boolean {
    return this.#inbox.length > 0 || this.isClosed;
  }

  write(bytes: Buffer): void {
    this.#outbox.push(bytes);
    this.#peer.send(this, labelOf(bytes, this.#hasStarted));
    this.#hasStarted = true;
  }

  /** The client says nothing more. */
  end(): void {
    this.#hasEnded = true;
    this.#peer.send(this, 'end of connection');
  }

  /** Sends what is to be sent to the server. */
  flush(): void {
    if (this.isClosed) return;
    for (const bytes of this.#outbox.splice(0)) {
      this.#note(bytes);
      this.#socket.write(bytes);
    }
    if (!this.#hasEnded || this.#isEnding) return;
    this.#isEnding = true;
    this.#socket.end();
  }

  /** The process is gone: the server learns it, and nothing of what waits is sent. */
  cut(): void {
    this.#outbox = [];
    this.#hasEnded = true;
    this.flush();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives the driver what has arrived. */
  deliver(): void {
    this.isDelivering = false;
    const isClosed = this.isClosed;
    const bytes = Buffer.concat(this.#inbox.splice(0));
    if (this.stream.destroyed) return;
    if (bytes.length > 0) this.stream.push(bytes);
    if (isClosed) this.stream.destroy();
  }

  /** Notes the statements of messages that are sent. */
  #note(bytes: Buffer): void {
    let at = 0;
    if (this.#sent.length === 0 && this.answered === 0 && this.pid === undefined) {
      // The first message has no type.
      const words = bytes.toString('latin1', 8).split('\0');
      this.lockTimeout = Number(words[words.indexOf('lock_timeout') + 1]) || 0;
      this.#sent.push('start');
      at = bytes.readInt32BE(0);
    }
    while (at < bytes.length) {
      const type = String.fromCharCode(bytes[at]!);
      const next = at + 1 + bytes.readInt32BE(at + 1);
      if (type === 'Q') this.#sent.push(bytes.toString('utf8', at + HEAD, next - 1));
      if (type === 'S') this.#sent.push('');
      if (type === 'X') this.#isEnding = true;
      at = next;
    }
  }

  #receive(bytes: Buffer): void {
    this.#inbox.push(bytes);
    this.#rest = Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (at + HEAD <= this.#rest.length) {
      const next = at + 1 + this.#rest.readInt32BE(at + 1);
      if (next > this.#rest.length) break;
      const type = String.fromCharCode(this.#rest[at]!);
      if (type === 'K') this.pid = this.#rest.readInt32BE(at + HEAD);
      if (type === 'Z') {
        this.done.push(this.#sent.shift()!);
        this.answered++;
      }
      at = next;
    }
    this.#rest = this.#rest.subarray(at);
    this.#peer.changed();
  }
}

/** The beginning of the first statement of some messages, for the trace. */
function labelOf(bytes: Buffer, hasStarted: boolean): string {
  if (!hasStarted) return 'start of connection';
  const type = String.fromCharCode(bytes[0]!);
  if (type === 'X') return 'end of connection';
  const text = bytes.toString('utf8', HEAD, HEAD + 120).replaceAll(/[^\x20-\x7e]+/g, ' ');
  return `sql ${text.slice(0, 60)}`;
}
