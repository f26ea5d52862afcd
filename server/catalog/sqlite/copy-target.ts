import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FactFolder } from '../../storage/fact-folder.ts';
import { LocalFiles } from '../../storage/local-files.ts';
import type { Catalog } from '../catalog.ts';
import { forgetCatalogElsewhere, makeDataFolder, requireRestored } from '../location.ts';
import { allowChanges } from './catalog-file.ts';
import { sealCatalog } from './connection.ts';
import { outnumber } from './copies.ts';
import { SqliteCatalog } from './sqlite-catalog.ts';

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
      result = await catalog.transaction(async (tx) => {
        const filled = await work(tx);
        await outnumber(tx, this.#dataFolder);
        return filled;
      });
    }
    const files = new LocalFiles(this.#dataFolder);
    await sealCatalog(files, `${COPYING}/catalog.sqlite`);
    // SQLite would apply the log of a lost catalog to this one.
    const left = ['catalog.sqlite-wal', 'catalog.sqlite-shm'].filter((name) => existsSync(files.path(name)));
    await new FactFolder(this.#dataFolder).moveToTrash(left, Date.now());
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
