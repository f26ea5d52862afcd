import type { Catalog, Statement, Statements, Values } from '../catalog.ts';
import type { Connection } from './connection.ts';

/** The catalog of one snapshot or transaction, on a connection that it has for itself until its end. */
export class Work implements Catalog, Statements {
  readonly #mayWrite: boolean;
  /** Statements over many rows. */
  #underWay = 0;
  #connection: Connection | undefined;

  constructor(connection: Connection, { mayWrite }: { mayWrite: boolean }) {
    this.#connection = connection;
    this.#mayWrite = mayWrite;
  }

  get statements(): Statements {
    return this;
  }

  async get<Row>(statement: Statement, values?: Values): Promise<Row | undefined> {
    return this.#current().get(statement, values);
  }

  async all<Row>(statement: Statement, values?: Values): Promise<Row[]> {
    return this.#current().all(statement, values);
  }

  async *each<Row>(statement: Statement, values?: Values): AsyncGenerator<readonly Row[], void> {
    const rows = this.#current().each<Row>(statement, values);
    this.#underWay++;
    try {
      yield* rows;
    } finally {
      this.#underWay--;
    }
  }

  async run(statement: Statement, values?: Values): Promise<number> {
    return this.#writable().run(statement, values);
  }

  async runEach<Row extends Values>(statement: Statement, rows: Iterable<Row>): Promise<Row[]> {
    const connection = this.#writable();
    this.#underWay++;
    try {
      return await connection.runEach(statement, rows);
    } finally {
      this.#underWay--;
    }
  }

  async snapshot<T>(reads: (own: Catalog) => Promise<T>): Promise<T> {
    return reads(this);
  }

  async transaction<T>(writes: (own: Catalog) => Promise<T>): Promise<T> {
    this.#writable();
    return writes(this);
  }

  /**
   * Refuses all that comes now: it must not come between the work of whoever has the connection next. False where
   * statements are still under way, so that nobody may have it.
   */
  end(): boolean {
    this.#connection = undefined;
    return this.#underWay === 0;
  }

  #current(): Connection {
    if (this.#connection === undefined) throw new Error('The snapshot or transaction has ended.');
    return this.#connection;
  }

  #writable(): Connection {
    if (!this.#mayWrite) throw new Error('A snapshot only reads.');
    return this.#current();
  }
}
