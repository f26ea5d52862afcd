import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFile } from '../../runtime/file-lock.ts';
import { CatalogFailure, CatalogMissing } from '../failures.ts';
import { hasFacts, makeDataFolder, requireDataFolder, requireOwnCatalog, requireRestored } from '../location.ts';

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
      `The catalog '${this.path}' is ${state}, but '${facts}' contains facts; nothing was changed. Restore the catalog from a backup, or run 'ordinate rebuild' to rebuild it from the journal, or discard the facts and start with an empty catalog: 'ordinate rebuild --new'.`,
    );
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
      `The catalog '${this.path}' was ${what} while it was open; it is no longer read or written. Stop this process, restore the catalog from a backup or run 'ordinate rebuild', and start again.`,
    );
  }
}
