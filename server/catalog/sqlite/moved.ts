import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CatalogFailure, nameCatalogFailure } from '../failures.ts';

const fileOf = (dataFolder: string): string => join(dataFolder, 'catalog-was-copied');

/**
 * Makes the catalog of a data folder read-only for all processes, because a copy would lack later changes. Waits for a
 * running transaction. Returns a function that undoes this.
 * @param to name of the copy, without a password
 * @param options `timeout`: for that transaction, in milliseconds
 */
export function stopChanges(dataFolder: string, to: string, { timeout = 30_000 } = {}): () => void {
  const path = fileOf(dataFolder);
  const wasThere = existsSync(path);
  const undo = (): void => {
    if (!wasThere) allowChanges(dataFolder);
  };
  const catalog = join(dataFolder, 'catalog.sqlite');
  try {
    writeFileSync(path, `${to}\n`, { mode: 0o600 });
    using db = new DatabaseSync(catalog, { timeout });
    db.exec('begin immediate; rollback');
    return undo;
  } catch (error) {
    undo();
    throw nameCatalogFailure(error, catalog);
  }
}

export function allowChanges(dataFolder: string): void {
  rmSync(fileOf(dataFolder), { force: true });
}

/** Throws if a copy replaces the catalog. Takes some microseconds. */
export function requireChanges(dataFolder: string): void {
  const path = fileOf(dataFolder);
  if (!existsSync(path)) return;
  throw new CatalogFailure(
    `The catalog of '${dataFolder}' was copied to ${readFileSync(path, 'utf8').trim()} and takes no more changes, which the copy would not have; it is still read. Set ORDINATE_CATALOG to the address of the copy. To stay with the folder instead, remove the file '${path}' and drop the copy.`,
    { resource: 'read-only' },
  );
}
