import type { ConcurrencyLimit } from '../runtime/limits.ts';
import type { Settings } from '../settings/settings.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { Engine } from './duckdb/engine.ts';
import { DuckDBReader } from './duckdb/reader.ts';
import { chooseEngine } from './engine-choice.ts';
import type { Facts } from './facts.ts';
import type { DistantLists } from './reader.ts';
import { StoredFacts } from './stored-facts.ts';

interface FactsSources {
  readonly settings: Pick<Settings, 'engine' | 'trino' | 'trinoAbove' | 'trinoSeconds'>;
  readonly engine: Engine;
  readonly files: FileStore;
  /** See `DuckDBReader`. */
  readonly heavy: ConcurrencyLimit;
}

/** Opens the facts with the engines of the settings. Throws for settings that contradict each other. */
export async function openFacts({ settings, engine, files, heavy }: FactsSources): Promise<Facts> {
  const duckdb = new DuckDBReader(engine, files, heavy);
  const trino = await openTrino(settings, files);
  if (trino === undefined) return new StoredFacts(duckdb);
  return new StoredFacts(duckdb, (stored) => (chooseEngine(settings, stored) === 'trino' ? trino : duckdb));
}

/** Opens the reader of lists in Trino; undefined if DuckDB reads all lists. */
export async function openDistantLists({
  settings,
  files,
}: Pick<FactsSources, 'settings' | 'files'>): Promise<DistantLists | undefined> {
  const reader = await openTrino(settings, files);
  if (reader === undefined) return undefined;
  return { reads: (stored) => chooseEngine(settings, stored) === 'trino', rows: reader.listRows };
}

/** The check of Trino, and whether no other engine can run its queries; undefined if it is not used. */
export function openTrinoHealth({
  engine,
  trino,
}: Pick<Settings, 'engine' | 'trino'>): ((signal: AbortSignal) => Promise<void>) | undefined {
  if (engine === 'duckdb') return undefined;
  return async (signal) => {
    const { checkTrino } = await import('./trino/health.ts');
    await checkTrino(trino, signal);
  };
}

/**
 * The statements that define the tables of Trino over the facts.
 * @param storage see `ORDINATE_STORAGE`
 * @param trino see `ORDINATE_TRINO`
 */
export async function trinoDefinitions(storage: string, trino: string): Promise<string[]> {
  const [{ readTrinoAddress }, { tableDefinitions }] = await Promise.all([
    import('./trino/address.ts'),
    import('./trino/tables.ts'),
  ]);
  return tableDefinitions(storage.replace(/\/$/, ''), readTrinoAddress(trino));
}

/** The modules for Trino are loaded only if it is used. */
async function openTrino({ engine, trino, trinoSeconds }: FactsSources['settings'], files: FileStore) {
  if (engine === 'duckdb') return undefined;
  if (trino === '') throw new Error(`ORDINATE_ENGINE=${engine} needs ORDINATE_TRINO, the address of Trino.`);
  if (!files.addressOf('').startsWith('s3://')) {
    throw new Error(`ORDINATE_ENGINE=${engine} needs ORDINATE_STORAGE: Trino reads files in an object store only.`);
  }
  const [{ TrinoClient }, { TrinoReader }] = await Promise.all([
    import('./trino/client.ts'),
    import('./trino/reader.ts'),
  ]);
  return new TrinoReader(new TrinoClient(trino, { firstAnswer: trinoSeconds * 1000 }), (file) => files.addressOf(file));
}
