import { existsSync, readFileSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFile } from '../../runtime/file-lock.ts';
import { CatalogFailure, CatalogMissing, nameCatalogFailure } from '../failures.ts';
import {
  hasCopies,
  hasFacts,
  makeDataFolder,
  requireDataFolder,
  requireOwnCatalog,
  requireRestored,
} from '../location.ts';

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

/** The file of a catalog. */
export class CatalogFile {
  readonly path: string;
  readonly dataFolder: string;
  #opened: Pick<Stats, 'dev' | 'ino'> | undefined;

  constructor(dataFolder: string) {
    this.dataFolder = dataFolder;
    this.path = join(dataFolder, 'catalog.sqlite');
  }

  /**
   * Creates a missing file, or throws if `create` is false. Throws if the file is missing or empty although there are facts.
   */
  prepare({ create }: { create: boolean }): void {
    if (create) makeDataFolder(this.dataFolder);
    requireRestored(this.dataFolder);
    requireOwnCatalog(this.dataFolder);
    this.requireWhereFactsAre();
    if (!create) requireDataFolder(this.dataFolder);
    // SQLite creates its other files with the mode of this one.
    makeFile(this.path);
    this.#opened = statSync(this.path);
  }

  /** Throws if the file is missing or empty although there are facts. */
  requireWhereFactsAre(): void {
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (found === undefined || found.size === 0) this.refuseWhereFactsAre(found === undefined ? 'missing' : 'empty');
  }

  /** Throws if there are fact files: with an empty catalog all of them would be orphans. */
  refuseWhereFactsAre(state: 'missing' | 'empty'): void {
    if (!hasFacts(this.dataFolder)) return;
    const facts = join(this.dataFolder, 'facts');
    throw new CatalogMissing(
      `The catalog '${this.path}' is ${state}, but '${facts}' contains facts; nothing was changed. ${this.#remedy()}, or discard the facts and start with an empty catalog: 'ordinate rebuild --new'.`,
    );
  }

  /** A catalog that is put back by hand would be older, and SQLite would apply the log of the lost one to it. */
  #remedy(): string {
    return hasCopies(this.dataFolder)
      ? "Run 'ordinate rebuild' to recover it from its last copy"
      : "It has no copy: restore the data folder from a backup ('ordinate restore')";
  }

  /** Bytes, including its log. */
  async size(): Promise<number> {
    const sizes = ['', '-wal'].map(
      async (suffix) => (await stat(`${this.path}${suffix}`).catch(() => undefined))?.size ?? 0,
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  /** Throws if the opened file was removed, replaced or emptied. */
  check(): void {
    const found = statSync(this.path, { throwIfNoEntry: false });
    const { dev, ino } = this.#opened!;
    if (found !== undefined && found.dev === dev && found.ino === ino && found.size > 0) return;
    const what = found === undefined ? 'removed' : found.size === 0 ? 'emptied' : 'replaced by another file';
    throw new CatalogFailure(
      `The catalog '${this.path}' was ${what} while it was open; it is no longer read or written. Stop this process. ${this.#remedy()}, and start again.`,
    );
  }
}
