import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlText } from '../../runtime/sql.ts';
import type { StoredFile } from '../../storage/file-store.ts';
import { LocalFiles } from '../../storage/local-files.ts';
import type { Catalog } from '../catalog.ts';
import { nameCatalogFailure } from '../failures.ts';
import { forgetCatalogElsewhere, makeDataFolder, requireDataFolder, requireRestored } from '../location.ts';
import { allowChanges } from './catalog-file.ts';
import { schemaVersionOf } from './connection.ts';
import { SqliteCatalog } from './sqlite-catalog.ts';

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

/** Folder of an incomplete copy. */
const COPYING = 'copying';

/** See `CopyTarget`. */
export class SqliteTarget implements AsyncDisposable {
  readonly name: string;
  readonly hasCatalog: boolean;
  readonly #dataFolder: string;

  constructor(dataFolder: string) {
    requireRestored(dataFolder);
    this.name = `'${dataFolder}'`;
    this.hasCatalog = existsSync(join(dataFolder, 'catalog.sqlite'));
    this.#dataFolder = dataFolder;
  }

  async read<T>(work: (copy: Catalog) => Promise<T>): Promise<T> {
    await using catalog = new SqliteCatalog(this.#dataFolder, { create: false });
    return await catalog.snapshot(work);
  }

  /** In another folder, renamed when complete. */
  async fill<T>(work: (copy: Catalog) => Promise<T>): Promise<T> {
    makeDataFolder(this.#dataFolder);
    const folder = join(this.#dataFolder, COPYING);
    await rm(folder, { recursive: true, force: true });
    let result: T;
    {
      await using catalog = new SqliteCatalog(folder);
      result = await catalog.transaction(work);
    }
    const files = new LocalFiles(this.#dataFolder);
    await files.seal(`${COPYING}/catalog.sqlite`);
    await files.rename(`${COPYING}/catalog.sqlite`, 'catalog.sqlite');
    await files.syncFolders();
    await rm(folder, { recursive: true, force: true });
    forgetCatalogElsewhere(this.#dataFolder);
    allowChanges(this.#dataFolder);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export function openSqliteTarget(dataFolder: string): SqliteTarget {
  return new SqliteTarget(dataFolder);
}
