import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProcessFolder, readRunning } from './process-folder.ts';

const ADDRESS_FILE = 'address';

/** Says where a server listens, for commands beside it, until its folder is removed. */
export async function noteAddress(folder: ProcessFolder, address: string): Promise<void> {
  // The disk may be full; the server answers all the same.
  await writeFile(join(folder.path, ADDRESS_FILE), address).catch(() => undefined);
}

/** Where the servers of a data folder on this machine listen. */
export function runningServers(dataFolder: string): string[] {
  return readRunning(join(dataFolder, 'temporary'), ADDRESS_FILE);
}
