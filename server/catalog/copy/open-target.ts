import type { Catalog } from '../catalog.ts';
import type { CatalogLocation } from '../location.ts';
import { openSqliteTarget } from '../sqlite/copy-target.ts';

/** A place that a catalog is copied to. */
export interface CopyTarget extends AsyncDisposable {
  /** For messages; without a password. */
  readonly name: string;
  /** Whether there is a catalog already. */
  readonly hasCatalog: boolean;
  /** Reads one state of the existing catalog. */
  read<T>(work: (copy: Catalog) => Promise<T>): Promise<T>;
  /** Atomically creates a catalog with what `work` writes. */
  fill<T>(work: (copy: Catalog) => Promise<T>): Promise<T>;
}

export async function openTarget({ dataFolder, catalogUrl }: CatalogLocation): Promise<CopyTarget> {
  if (catalogUrl === '') return openSqliteTarget(dataFolder);
  // The driver is loaded only if it is used.
  const { openPostgresTarget } = await import('../postgres/copy-target.ts');
  return openPostgresTarget(catalogUrl);
}
