import type { Catalog, OpenCatalog, Statements } from '../../server/catalog/catalog.ts';
import type { Lease, Leases } from '../../server/catalog/leases.ts';
import type { Usage } from '../../server/catalog/usage.ts';
import type { Host } from './host.ts';
import { withParts } from './modules/parts.ts';

type Call = <T>(label: string, effect: () => Promise<T>) => Promise<T>;
type Effect = (...given: unknown[]) => Promise<unknown>;

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
      return isCatalogDistant ? distantCatalog(catalog, call) : catalog;
    },
    usage: (usage: Usage): Usage => {
      const calls = calling(call, (name) => `usage ${String(name)}`);
      return isCatalogDistant ? withParts(usage, { get: calls, all: calls, run: calls, change: calls }) : usage;
    },
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

/** Makes a call of a method. @param labelOf by its first argument */
const calling =
  (call: Call, labelOf: (first: unknown) => string) =>
  (real: Effect): Effect =>
  (...given) =>
    call(labelOf(given[0]), () => real(...given));

function distantStatements(statements: Statements, call: Call): Statements {
  const calls = calling(call, (statement) => {
    const { template = statement } = statement as { template?: string };
    return `sql ${String(template)}`;
  });
  return withParts(statements, { get: calls, all: calls, run: calls, runEach: calls });
}

type Work = (own: Catalog) => Promise<unknown>;
type Within = (work: Work, ...lock: unknown[]) => Promise<unknown>;

function distantCatalog(catalog: OpenCatalog, call: Call): OpenCatalog {
  const within =
    (real: Within): Within =>
    (work, ...lock) =>
      real((own) => work(distantPart(own, call)), ...lock);
  return withParts(catalog, {
    statements: (own: Statements) => distantStatements(own, call),
    snapshot: within,
    cachedSnapshot: () => within(catalog.snapshot.bind(catalog) as Within),
    transaction: within,
    version: calling(call, () => 'version'),
    check: calling(call, () => 'check'),
  });
}

/** The catalog of a snapshot or transaction: one connection, so its statements come in order. */
function distantPart(own: Catalog, call: Call): Catalog {
  const outer: Catalog = {
    statements: distantStatements(own.statements, call),
    snapshot: (reads) => reads(outer),
    cachedSnapshot: (reads) => reads(outer),
    transaction: (writes) => own.transaction(() => writes(outer)),
  };
  return outer;
}
