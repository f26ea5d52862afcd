import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

/** Throws if there is no catalog, for commands that must not create one. */
export function requireDataFolder(path: string): void {
  if (existsSync(join(path, 'catalog.sqlite'))) return;
  throw new Error(
    `There is no data of Ordinate in '${path}'. Set ORDINATE_DATA to the folder that has it; serve, load, import, demo and workspaces create make a new one.`,
  );
}

/**
 * Creates an empty file, if missing. An existing file is not opened, because closing it would release all locks of this
 * process on it: POSIX locks belong to the process, not to the file descriptor.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
