import type { Catalog } from '../catalog.ts';
import type { CatalogPlace } from '../place.ts';
import { openSqliteTarget } from '../sqlite/copy-target.ts';

/** A place that a catalog is copied to. */
export interface CopyTarget extends AsyncDisposable {
  /** Which one it is, without a password. */
  readonly name: string;
  /** Whether there is a catalog already. */
  readonly hasCatalog: boolean;
  /** Reads one state of the catalog that is there. */
  read<T>(work: (own: Catalog) => Promise<T>): Promise<T>;
  /** Makes a catalog with what `work` writes, as a whole or not at all. */
  fill<T>(work: (own: Catalog) => Promise<T>): Promise<T>;
}

export async function openTarget({ dataFolder, catalogUrl }: CatalogPlace): Promise<CopyTarget> {
  if (catalogUrl === '') return openSqliteTarget(dataFolder);
  // The driver is loaded only if it is used.
  const { openPostgresTarget } = await import('../postgres/copy-target.ts');
  return openPostgresTarget(catalogUrl);
}
