import type { Settings } from '../settings/settings.ts';
import { type DiskReserve, findShortage } from '../storage/free-space.ts';

/** The disk has less free space than `ORDINATE_MIN_FREE`. */
class DiskShortage extends Error {
  readonly code = 'ENOSPC';
}

interface Disk {
  readonly settings: Settings;
  readonly reserve: DiskReserve;
}

/** Throws if the disk has too little space to store what would be requested. */
export async function requireDiskSpace({ settings, reserve }: Disk): Promise<void> {
  const shortage = await findShortage(settings.dataFolder, settings.minFree);
  if (shortage !== undefined) throw new DiskShortage(shortage);
  await reserve.take();
}
