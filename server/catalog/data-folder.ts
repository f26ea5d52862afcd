import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Makes the data folder, and those above it, where there is none.
 * Not by `recursive`: below a folder that takes none, such as /proc, Node tries for ever.
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
        `The data folder '${path}' cannot be made: ${message}. Set ORDINATE_DATA to a folder that this user may write.`,
        { cause },
      );
    }
  }
  if (!statSync(path).isDirectory()) {
    throw new Error(`The data folder '${path}' is not a folder. Set ORDINATE_DATA to one.`);
  }
}

/** Throws where there is no catalog yet, for commands that only look at what is there. */
export function requireDataFolder(path: string): void {
  if (existsSync(join(path, 'catalog.sqlite'))) return;
  throw new Error(
    `There is no data of Ordinate in '${path}'. Set ORDINATE_DATA to the folder that has it; serve, load, import, demo and workspaces create make a new one.`,
  );
}

/**
 * Makes an empty file where there is none. A file that exists is not opened: closing it would release every lock that
 * this process holds on it, for locks of POSIX belong to the process and not to the file descriptor.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
