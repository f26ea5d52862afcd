import type { Catalog, OpenCatalog, Statements } from '../../server/catalog/catalog.ts';
import type { Lease, Leases } from '../../server/catalog/leases.ts';
import type { Usage } from '../../server/catalog/usage.ts';
import type { Host } from './host.ts';

type Call = <T>(label: string, effect: () => Promise<T>) => Promise<T>;

/**
 * What processes share: the catalog, the usage database and leases. Where the catalog is distant, each statement takes time,
 * and statements that do not wait for each other come in any order, as over the connections of a pool.
 */
export function sharedBy(process: Host) {
  const { simulation, isCatalogDistant } = process;
  const random = simulation.random.fork(`calls of ${process.name}`);
  // What is called may wait itself, so that it is not part of an event.
  const call: Call = async (label, effect) => {
    await simulation.operation(process, label, () => {});
    const result = await effect();
    if (random.chance(0.5)) await simulation.operation(process, `${label} answered`, () => {});
    return result;
  };
  return {
    catalog: async (opening: Promise<OpenCatalog>): Promise<OpenCatalog> => {
      const catalog = await opening;
      return isCatalogDistant ? new DistantCatalog(catalog, call) : catalog;
    },
    usage: (usage: Usage): Usage => (isCatalogDistant ? distantUsage(usage, call) : usage),
    leases: (leases: Leases): Leases => ({
      acquire: async (name) => {
        process.disturbLease(name);
        const lease = await call(`lease ${name}`, () => leases.acquire(name));
        return lease && watched(lease, name, process, call);
      },
    }),
  };
}

/** A lease that may be lost, as one whose connection ended. */
function watched(lease: Lease, name: string, process: Host, call: Call): Lease {
  let isLost = false;
  return {
    isHeld: () =>
      call(`holds ${name}`, async () => {
        if (!isLost && !process.holdsLease(name)) {
          isLost = true;
          await lease.release();
        }
        return !isLost && (await lease.isHeld());
      }),
    release: async () => {
      await call(`release ${name}`, async () => (isLost ? undefined : lease.release()));
      process.disturbLease(name);
    },
  };
}

function distantUsage(usage: Usage, call: Call): Usage {
  return {
    get: (name, values) => call(`usage ${name}`, () => usage.get(name, values)),
    all: (name, values) => call(`usage ${name}`, () => usage.all(name, values)),
    run: (name, values) => call(`usage ${name}`, () => usage.run(name, values)),
    change: (name, values) => call(`usage ${name}`, () => usage.change(name, values)),
    close: () => usage.close(),
  };
}

function distantStatements(statements: Statements, call: Call): Statements {
  const nameOf = (statement: Parameters<Statements['get']>[0]): string =>
    `sql ${typeof statement === 'string' ? statement : statement.template}`;
  return {
    get: (statement, values) => call(nameOf(statement), () => statements.get(statement, values)),
    all: (statement, values) => call(nameOf(statement), () => statements.all(statement, values)),
    run: (statement, values) => call(nameOf(statement), () => statements.run(statement, values)),
    send: (statement, values) => statements.send(statement, values),
    runEach: (statement, rows) => call(nameOf(statement), () => statements.runEach(statement, rows)),
    each: (statement, values) => statements.each(statement, values),
  };
}

class DistantCatalog implements OpenCatalog {
  readonly #catalog: OpenCatalog;
  readonly #call: Call;
  readonly statements: Statements;

  constructor(catalog: OpenCatalog, call: Call) {
    this.#catalog = catalog;
    this.#call = call;
    this.statements = distantStatements(catalog.statements, call);
  }

  get locks(): OpenCatalog['locks'] {
    return this.#catalog.locks;
  }

  snapshot<T>(reads: (own: Catalog) => Promise<T>): Promise<T> {
    return this.#catalog.snapshot((own) => reads(distant(own, this.#call)));
  }

  cachedSnapshot<T>(reads: (own: Catalog) => Promise<T>): Promise<T> {
    return this.snapshot(reads);
  }

  transaction<T>(
    writes: (own: Catalog) => Promise<T>,
    ...lock: readonly [] | Parameters<Catalog['transaction']>[1][]
  ): Promise<T> {
    return this.#catalog.transaction((own) => writes(distant(own, this.#call)), ...lock);
  }

  version(): Promise<object> {
    return this.#call('version', async () => this.#catalog.version());
  }

  prefetchVersion(): void {
    this.#catalog.prefetchVersion();
  }

  size(): Promise<number> {
    return this.#catalog.size();
  }

  check(): Promise<void> {
    return this.#call('check', () => this.#catalog.check());
  }

  close(): Promise<void> {
    return this.#catalog.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The catalog of a snapshot or transaction: one connection, so its statements come in order. */
function distant(own: Catalog, call: Call): Catalog {
  const outer: Catalog = {
    statements: distantStatements(own.statements, call),
    snapshot: (reads) => reads(outer),
    cachedSnapshot: (reads) => reads(outer),
    transaction: (writes) => own.transaction(() => writes(outer)),
  };
  return outer;
}
