import type { Catalog, Statement, Statements, Values } from './catalog.ts';

/** The catalog of one snapshot or transaction, on an exclusive connection. */
export class CatalogScope implements Catalog, Statements {
  readonly #mayWrite: boolean;
  /** Number of running statements over many rows. */
  #underWay = 0;
  #connection: Statements | undefined;

  constructor(connection: Statements, { mayWrite }: { mayWrite: boolean }) {
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

  async send(statement: Statement, values?: Values): Promise<void> {
    return this.#writable().send(statement, values);
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

  async snapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    return reads(this);
  }

  cachedSnapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    return this.snapshot(reads);
  }

  async transaction<T>(writes: (tx: Catalog) => Promise<T>): Promise<T> {
    this.#writable();
    return writes(this);
  }

  /**
   * Rejects further calls, because the connection will be reused. Returns false if statements are still running, so that it
   * cannot be reused.
   */
  end(): boolean {
    this.#connection = undefined;
    return this.#underWay === 0;
  }

  #current(): Statements {
    if (this.#connection === undefined) throw new Error('The snapshot or transaction has ended.');
    return this.#connection;
  }

  #writable(): Statements {
    if (!this.#mayWrite) throw new Error('A snapshot is read-only.');
    return this.#current();
  }
}
