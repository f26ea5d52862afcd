import type { ConcurrencyLimit } from '../runtime/limits.ts';
import type { Settings } from '../settings/settings.ts';
import type { FileStore } from '../storage/file-store.ts';
import { ChosenFacts } from './chosen-facts.ts';
import { DuckDBFacts } from './duckdb/duckdb-facts.ts';
import type { Engine } from './duckdb/engine.ts';
import { chooseEngine } from './engine-choice.ts';
import type { DistantLists, Facts } from './facts.ts';

interface FactsSources {
  readonly settings: Pick<Settings, 'engine' | 'trino' | 'trinoAbove'>;
  readonly engine: Engine;
  readonly files: FileStore;
  /** See `DuckDBFacts`. */
  readonly heavy: ConcurrencyLimit;
}

/** Opens the facts, read by the engines of the settings. Throws if they do not fit together. */
export async function openFacts({ settings, engine, files, heavy }: FactsSources): Promise<Facts> {
  const duckdb = new DuckDBFacts(engine, files, heavy);
  const reader = await openTrino(settings, files);
  if (reader === undefined) return duckdb;
  const { TrinoFacts } = await import('./trino/trino-facts.ts');
  const trino = new TrinoFacts(reader, (...of) => duckdb.pageNumbers(...of));
  return new ChosenFacts(duckdb, trino, (stored) => chooseEngine(settings, stored));
}

/** Opens what reads lists in Trino; undefined if all lists are read here. */
export async function openDistantLists({
  settings,
  files,
}: Pick<FactsSources, 'settings' | 'files'>): Promise<DistantLists | undefined> {
  const reader = await openTrino(settings, files);
  if (reader === undefined) return undefined;
  const { TrinoLists } = await import('./trino/trino-lists.ts');
  return new TrinoLists(reader, (stored) => chooseEngine(settings, stored) === 'trino');
}

/** Whether Trino answers, and whether anything else answers its questions; undefined if it is not used. */
export function openTrinoHealth({
  engine,
  trino,
}: Pick<Settings, 'engine' | 'trino'>):
  | { check: (signal: AbortSignal) => Promise<void>; isNeeded: boolean }
  | undefined {
  if (engine === 'duckdb') return undefined;
  const check = async (signal: AbortSignal): Promise<void> => {
    const { checkTrino } = await import('./trino/health.ts');
    await checkTrino(trino, signal);
  };
  return { check, isNeeded: engine === 'trino' };
}

/** The modules for Trino are loaded only if it is used. */
async function openTrino({ engine, trino }: FactsSources['settings'], files: FileStore) {
  if (engine === 'duckdb') return undefined;
  if (trino === '') throw new Error(`ORDINATE_ENGINE=${engine} needs ORDINATE_TRINO, the address of Trino.`);
  if (!files.addressOf('').startsWith('s3://')) {
    throw new Error(`ORDINATE_ENGINE=${engine} needs ORDINATE_STORAGE: Trino reads files in an object store only.`);
  }
  const [{ TrinoClient }, { TrinoReader }] = await Promise.all([
    import('./trino/client.ts'),
    import('./trino/reader.ts'),
  ]);
  return new TrinoReader(new TrinoClient(trino), (file) => files.addressOf(file));
}
