import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlText } from '../../runtime/sql.ts';
import type { StoredFile } from '../../storage/file-store.ts';
import { nameCatalogFailure } from '../failures.ts';
import { requireDataFolder } from '../location.ts';
import { schemaVersionOf } from './migrations.ts';

/** The contents of a copy. */
interface CatalogCopy {
  readonly schema: number;
  readonly projects: number;
  /** The current fact files. */
  readonly files: readonly StoredFile[];
}

/**
 * Writes one consistent state of a data folder's catalog to a new file, during reads and writes. The file is not
 * durable yet. Blocks the event loop for as long as writing takes.
 */
export function copyCatalog(dataFolder: string, path: string): void {
  requireDataFolder(dataFolder);
  const source = join(dataFolder, 'catalog.sqlite');
  try {
    using db = new DatabaseSync(source, { readOnly: true, timeout: 30_000 });
    db.prepare(sqlText('catalog/database.copy_into')).run({ path });
  } catch (error) {
    throw nameCatalogFailure(error, source);
  }
}

/** Reads a copy without changing it. Throws if it is damaged. */
export function readCopy(path: string): CatalogCopy {
  try {
    using db = new DatabaseSync(path, { readOnly: true });
    const rows = db.prepare(sqlText('catalog/fact-files.all')).all() as unknown as StoredFile[];
    return {
      schema: schemaVersionOf(db),
      projects: Number(db.prepare(sqlText('catalog/projects.count')).get()!['projects']),
      files: rows.map(({ file, bytes, sha256 }) => ({ file, bytes, sha256 })),
    };
  } catch (error) {
    throw nameCatalogFailure(error, path);
  }
}
