import { statfs } from 'node:fs/promises';
import { Gauge, Registry } from 'prom-client';
import type { Collected } from './process-metrics.ts';

/** The disk of the data folder, which each node has for itself. */
export async function collectDisk(dataFolder: string): Promise<Collected> {
  const { bavail, blocks, bsize } = await statfs(dataFolder);
  const registers = [new Registry()];
  new Gauge({ name: 'ordinate_disk_free_bytes', help: 'Free space of the disk of the data folder.', registers }).set(
    bavail * bsize,
  );
  new Gauge({ name: 'ordinate_disk_size_bytes', help: 'Size of the disk of the data folder.', registers }).set(
    blocks * bsize,
  );
  return (await registers[0]!.getMetricsAsJSON()) as Collected;
}
