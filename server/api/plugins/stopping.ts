import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { stopping } from '../../domain/errors.ts';

/** Milliseconds between two looks at the connections of a server that stops. */
const LOOK_EVERY = 50;
/** Looks without traffic after which a connection is idle; looks, because a busy process reads late what has arrived. */
const IDLE_AFTER = 10;
/** Looks without a new connection until the port is closed, and looks until it is closed though clients still connect. */
const CALM_AFTER = 4;
const MAX_TAKING = 100;
/** Looks until requests of late connections are answered: by then all processes of the server have closed the port. */
const HELD_FOR = 10;
/** Looks until requests are refused. */
const MAX_LOOKS = 100;

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the server has begun to stop. */
    isStopping(): boolean;
  }
}

/**
 * Stops a server without a reset. Closing the port resets connections that wait to be taken, so it is closed when nobody
 * connects: the requests of late connections are held back, or their clients would connect again after each answer. Each
 * connection is closed after its next answer or when it is idle. What arrives then, on connections with a running answer, is
 * refused.
 */
export function addStopping(app: FastifyInstance): void {
  const { server } = app;
  const connections = new Connections(server);
  const held = new HeldRequests();
  let isStopping = false;
  let isRefusing = false;
  app.decorate('isStopping', () => isStopping);
  server.prependListener('request', (_request, response) => {
    if (isStopping) response.shouldKeepAlive = false;
  });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (isRefusing) done(stopping());
    else if (connections.isLate(raw.socket)) held.add(done);
    else done();
  });
  // Added first, because later hooks end running requests.
  app.addHook('preClose', async () => {
    isStopping = true;
    connections.beginToClose();
    for (let looks = 0, calm = 0; server.listening && calm < CALM_AFTER && looks < MAX_TAKING; looks += 1) {
      const { late } = connections;
      await sleep(LOOK_EVERY);
      // Clients whose answers end may connect again.
      calm = connections.late === late && !connections.isAnyEarlyRunning() ? calm + 1 : 0;
    }
    // `close` of an HTTP server would cut idle connections, whose clients may be sending a request right now.
    NetServer.prototype.close.call(server);
    const isHolding = (looks: number): boolean => connections.late > 0 && looks < HELD_FOR;
    for (let looks = 0; looks < MAX_LOOKS && (connections.closeIdle() || isHolding(looks)); looks += 1) {
      if (!isHolding(looks)) held.release();
      await sleep(LOOK_EVERY);
    }
    held.release();
    isRefusing = true;
    // A connection whose answer began before the stop stays open after it.
    const timer = setInterval(() => connections.closeIdle(), LOOK_EVERY);
    server.once('close', () => clearInterval(timer));
  });
}

/** Requests that wait to be answered. */
class HeldRequests {
  #waiting: (() => void)[] | undefined = [];

  /** Calls `go` on release, or at once after it. */
  add(go: () => void): void {
    if (this.#waiting === undefined) go();
    else this.#waiting.push(go);
  }

  release(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const go of waiting) go();
  }
}

interface Connection {
  /** Whether it was opened after the stop began. */
  readonly isLate: boolean;
  /** Responses that have not ended. */
  readonly responses: Set<ServerResponse>;
  /** Bytes of requests, at the last look. */
  arrived: number;
  /** Looks without traffic. */
  quiet: number;
}

/** The open connections of a server. */
class Connections {
  /** Connections opened after the stop began. */
  late = 0;
  readonly #open = new Map<Socket, Connection>();
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      if (this.#isClosing) this.late += 1;
      this.#open.set(socket, { isLate: this.#isClosing, responses: new Set(), arrived: 0, quiet: 0 });
      socket.once('close', () => this.#open.delete(socket));
    });
    server.prependListener('request', ({ socket }, response) => {
      const connection = this.#open.get(socket);
      connection?.responses.add(response);
      response.once('close', () => {
        if (connection === undefined) return;
        connection.responses.delete(response);
        connection.quiet = 0;
      });
    });
  }

  isLate(socket: Socket): boolean {
    return this.#open.get(socket)?.isLate === true;
  }

  /** Whether a request of a connection from before the stop is running. */
  isAnyEarlyRunning(): boolean {
    return [...this.#open.values()].some(({ isLate, responses }) => !isLate && responses.size > 0);
  }

  /** Tells the clients of running requests that their connections will close. */
  beginToClose(): void {
    this.#isClosing = true;
    for (const { responses } of this.#open.values()) {
      for (const response of responses) response.shouldKeepAlive = false;
    }
  }

  /** Looks at all connections, and closes those that are idle. Whether any may still send a request. */
  closeIdle(): boolean {
    let isAnyLeft = false;
    for (const [socket, connection] of this.#open) {
      if (connection.responses.size > 0) continue;
      const { bytesRead } = socket;
      connection.quiet = bytesRead === connection.arrived ? connection.quiet + 1 : 0;
      connection.arrived = bytesRead;
      if (connection.quiet > IDLE_AFTER) socket.destroy();
      else isAnyLeft = true;
    }
    return isAnyLeft;
  }
}
