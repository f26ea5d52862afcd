import { readIndexes } from './index-file.ts';
import { openBackup } from './target.ts';

/** A backup of a target. All but the id is null if its index is damaged. */
export interface ListedBackup {
  readonly id: string;
  readonly time: string | null;
  readonly projects: number | null;
  readonly files: number | null;
  readonly bytes: number | null;
  /** Bytes that were not in the target before. */
  readonly copiedBytes: number | null;
  readonly seconds: number | null;
  readonly damage: string | null;
}

/** The backups of a target, oldest first. */
export async function listBackups(path: string): Promise<ListedBackup[]> {
  using target = await openBackup(path);
  const { indexes, damaged } = await readIndexes(target.store);
  const readable = indexes.map(({ id, time, projects, files, catalog, copiedBytes, seconds }) => {
    const bytes = files.reduce((sum, file) => sum + file.bytes, catalog.bytes);
    return { id, time, projects, files: files.length, bytes, copiedBytes, seconds, damage: null };
  });
  const none = { time: null, projects: null, files: null, bytes: null, copiedBytes: null, seconds: null };
  const others = damaged.map(({ id, damage }) => ({ id, ...none, damage }));
  return [...readable, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
}
