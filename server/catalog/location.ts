import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The location of the catalog and the usage database; part of the settings. */
export interface CatalogLocation {
  readonly dataFolder: string;
  /** The address of a PostgreSQL database; empty for SQLite in the data folder. */
  readonly catalogUrl: string;
  /** Maximum connections of this process to a database; the setting's default if omitted. */
  readonly catalogConnections?: number;
}

/** The location of a catalog in SQLite, ignoring the settings. */
export function sqliteIn(dataFolder: string): CatalogLocation {
  return { dataFolder, catalogUrl: '' };
}

/** Throws for a catalog that is not in the data folder. @param remedy what to do instead */
export function requireSqlite({ catalogUrl }: Pick<CatalogLocation, 'catalogUrl'>, remedy: string): void {
  if (catalogUrl === '') return;
  throw new Error(
    `The catalog is in a PostgreSQL database (ORDINATE_CATALOG), for which this command is not made. ${remedy}`,
  );
}

/**
 * Creates the data folder and its parents, if missing.
 * Does not use `recursive`, which never returns below folders such as /proc.
 */
export function makeDataFolder(path: string): void {
  const missing: string[] = [];
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      // Another process was faster.
      if (code === 'EEXIST') continue;
      throw new Error(
        `The data folder '${path}' cannot be created: ${message}. Set ORDINATE_DATA to a folder that this user can write to.`,
        { cause },
      );
    }
  }
  if (!statSync(path).isDirectory()) {
    throw new Error(`The data folder '${path}' is not a folder. Set ORDINATE_DATA to one.`);
  }
}

/** The subfolder of a data folder that exists while a restore into it is incomplete. */
export const RESTORING = 'restoring';

/** The file of a rebuilt catalog that is whole, until it is put in place of the lost one. */
export const REBUILT = 'catalog.rebuilt.sqlite';

/** Throws if a data folder is incomplete because a restore has not ended. */
export function requireRestored(path: string): void {
  if (!existsSync(join(path, RESTORING))) return;
  throw new Error(
    `The data folder '${path}' is not whole: a restore into it was interrupted, or still runs. Run the same 'ordinate restore BACKUP --data ${path}' again, which goes on where it ended; or remove the folder.`,
  );
}

/** Throws if there is no catalog, for commands that must not create one. */
export function requireDataFolder(path: string): void {
  requireRestored(path);
  if (existsSync(join(path, 'catalog.sqlite'))) return;
  throw new Error(
    `There is no data of Ordinate in '${path}'. Set ORDINATE_DATA to the folder that has it; serve, load, import, demo and workspaces create make a new one.`,
  );
}

/** Whether a data folder contains fact files. */
export function hasFacts(dataFolder: string): boolean {
  return holdsFiles(join(dataFolder, 'facts'));
}

/** Whether a data folder contains copies of the catalog. */
export function hasCopies(dataFolder: string): boolean {
  return holdsFiles(join(dataFolder, 'facts/copies'));
}

function holdsFiles(folder: string): boolean {
  const entries = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder, { withFileTypes: true }) : [];
  return entries.some((entry) => entry.isFile() || (entry.isDirectory() && holdsFiles(join(folder, entry.name))));
}

const elsewhere = (dataFolder: string): string => join(dataFolder, 'catalog-is-elsewhere');

/** Notes in a data folder that its catalog is in a database. @param name which one, without a password */
export function noteCatalogElsewhere(dataFolder: string, name: string): void {
  const path = elsewhere(dataFolder);
  const text = `${name}\n`;
  // Commands that only read may run without a folder.
  if (!existsSync(dataFolder)) return;
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text, { mode: 0o600 });
}

export function forgetCatalogElsewhere(dataFolder: string): void {
  rmSync(elsewhere(dataFolder), { force: true });
}

/**
 * Throws if the catalog of a data folder is in a database: an older one in the folder would serve old data, and files that it
 * does not know would be swept.
 */
export function requireOwnCatalog(dataFolder: string): void {
  const path = elsewhere(dataFolder);
  if (!existsSync(path)) return;
  throw new Error(
    `The catalog of '${dataFolder}' is not in the folder but in ${readFileSync(path, 'utf8').trim()}. Set ORDINATE_CATALOG to the address of that database, or copy it back: 'ordinate catalog copy --to FOLDER'. To use an older catalog in the folder after all, remove the file '${path}'.`,
  );
}
