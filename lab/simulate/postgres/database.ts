import type { Duplex } from 'node:stream';
import pg from 'pg';
import { GLOBALS, requirePackage } from '../bundle.ts';
import type { Host } from '../host.ts';
import type { Simulation } from '../simulation.ts';
import { type Databases, nameOf } from './databases.ts';
import { Link, type Peer } from './link.ts';
import { socketsOf } from './sockets.ts';

/** For an answer of the server, in milliseconds of the real clock, before it is asked who waits for a lock. */
const PATIENCE = 2;
/** An idle server that does not answer for so long is broken, in real milliseconds. */
const BROKEN = 30_000;
/** Until the server learns that a process is gone, in simulated milliseconds. */
const CUT_WITHIN = 20;
/** The clock of the server goes on in such steps, in simulated milliseconds. */
const CLOCK_STEP = 20;
const WAITING = 'select distinct pid from pg_locks where not granted';
const NAME = 'run';

/**
 * The database of a run, in a real PostgreSQL server. Its processes have the real driver, whose packets are events. An event
 * that sends something ends when each statement is answered or waits for a lock, of which the server knows; so the server
 * takes no simulated time, nothing waits for a process that cannot go on, and the same seed does the same again.
 */
export class Database implements Peer {
  readonly url: string;
  readonly #databases: Databases;
  readonly #simulation: Simulation;
  readonly #control: pg.Client;
  readonly #links = new Set<Link>();
  readonly #sending = new Set<Link>();
  #clock = 0;
  #notify = (): void => {};

  private constructor(url: string, databases: Databases, simulation: Simulation, control: pg.Client) {
    this.url = url;
    this.#databases = databases;
    this.#simulation = simulation;
    this.#control = control;
  }

  /** @param template the name of a database with what is there in the beginning */
  static async open(databases: Databases, simulation: Simulation, template?: string): Promise<Database> {
    const url = await databases.create(NAME, template === undefined ? undefined : nameOf(template));
    const control = new pg.Client({ connectionString: url });
    control.on('error', () => {});
    await control.connect();
    return new Database(url, databases, simulation, control);
  }

  /** The driver for a process. */
  packagesOf(host: Host, globals: Readonly<Record<string, unknown>>) {
    const net = socketsOf((stream, port, address) =>
      this.#simulation.operation(host, 'connect', () => this.#open(host, stream, { port, host: address })),
    );
    void host.gone.then(() => this.#cut(host));
    const given = Object.fromEntries(GLOBALS.map((name) => [name, globals[name]]));
    const driver = this.#databases.driver(
      (name) => (name === 'net' ? net : requirePackage(name)),
      given as Parameters<Databases['driver']>[1],
    );
    return { pg: driver };
  }

  /** Rows of the database, outside of simulated time. */
  async rows(sql: string): Promise<readonly object[]> {
    return (await this.#control.query<object>(sql)).rows;
  }

  send(link: Link, label: string): void {
    if (this.#sending.has(link)) return;
    this.#sending.add(link);
    void this.#simulation.operation(link.host, label, async () => {
      this.#sending.delete(link);
      await this.#settle();
      await this.#setClock();
      link.flush();
      await this.#settle();
    });
  }

  changed(): void {
    this.#notify();
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.destroy();
    await this.#control.end();
    await this.#databases.drop(NAME);
  }

  async #open(host: Host, stream: Duplex, to: { port: number; host: string }): Promise<Link> {
    const link = await Link.open(host, stream, this, to);
    this.#links.add(link);
    return link;
  }

  #cut(host: Host): void {
    const links = [...this.#links].filter((link) => link.host === host);
    if (links.length === 0) return;
    const random = this.#simulation.random.fork(`end of ${host.name}`);
    this.#simulation.schedule(undefined, random.next() * CUT_WITHIN, `connections of ${host.name} end`, async () => {
      for (const link of links) link.cut();
      await this.#settle();
    });
  }

  /** Waits until each connection is answered or waits for a lock that another one holds, and lets the answers travel. */
  async #settle(): Promise<void> {
    const since = performance.now();
    for (;;) {
      if (this.#busy().length === 0) break;
      await this.#news();
      if (this.#busy().length === 0) break;
      const { rows } = await this.#control.query<{ pid: number }>(WAITING);
      const waiting = new Set(rows.map(({ pid }) => pid));
      if (this.#busy().every(({ pid }) => waiting.has(pid!))) break;
      if (performance.now() - since > BROKEN) throw new Error('PostgreSQL does not answer.');
    }
    for (const link of this.#busy()) this.#limit(link);
    for (const link of this.#links) {
      for (const text of link.done.splice(0)) await this.#tell(link, text);
      if (link.isClosed && (link.host.isGone || link.stream.destroyed)) this.#links.delete(link);
      else if (link.hasNews && !link.isDelivering) {
        link.isDelivering = true;
        void this.#simulation.operation(link.host, 'answer of the database', () => link.deliver());
      }
    }
  }

  async #setClock(): Promise<void> {
    const now = Math.floor(this.#simulation.now);
    if (now < this.#clock + CLOCK_STEP) return;
    this.#clock = now;
    await this.#control.query("select setval('simulated.clock', $1)", [now]);
  }

  #busy(): Link[] {
    return [...this.#links].filter((link) => link.isBusy);
  }

  /** Waits for the server for a moment. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE);
      this.#notify = () => {
        if (this.#busy().length > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The server's limit for locks is of the real clock: this is the one of simulated time. */
  #limit(link: Link): void {
    if (link.lockTimeout === 0 || link.waitsAt === link.answered) return;
    const at = link.answered;
    link.waitsAt = at;
    this.#simulation.schedule(undefined, link.lockTimeout, `${link.host.name} has waited too long`, async () => {
      if (!link.isBusy || link.answered !== at) return;
      await this.#control.query('select pg_cancel_backend($1)', [link.pid]);
      await this.#settle();
    });
  }

  /** Tells the world of transactions that begin to write, and of those that have ended. */
  async #tell({ host, pid }: Link, text: string): Promise<void> {
    const { machine } = host;
    if (text.startsWith('begin; ')) machine.onBegin(host);
    if (!text.endsWith('commit')) return;
    const { rows } = await this.#control.query<{ pid: number }>(
      'with gone as (delete from simulated.publications where pid = $1 returning pid) select distinct pid from gone',
      [pid],
    );
    if (rows.length > 0) machine.onPublish(host);
    machine.onCommit(host);
  }
}
