import { rm } from 'node:fs/promises';
import type { Catalog } from '../catalog/catalog.ts';
import {
  forgetRetiredFactFiles,
  isFactFileKept,
  listKnownFactFiles,
  listRetiredFactFiles,
} from '../catalog/fact-files.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { FactStore } from '../storage/fact-store.ts';
import { PlannedFiles } from './planned-files.ts';

/** Longer than any request may take: files replaced by a load can still be read by requests that began before it. */
const GRACE_MS = 3_700_000;
const ORPHANS_EVERY_MS = 86_400_000;
const ORPHANS_MARK = 'orphans-moved';
/** So many orphans are no sign of a mistake, in a small data folder either. */
const FEW_ORPHANS = 10;

/**
 * Removes what a load leaves behind: its staged files, what it wrote and did not publish, and files that a load replaced
 * a while ago. Costs as much as there is to remove. Only while holding the load lock: nobody else is writing files then.
 * Returns the number of fact files that it removed.
 */
export async function sweep(catalog: Catalog, store: FactStore, now = Date.now()): Promise<number> {
  let removed = 0;
  const staging = store.path('staging');
  for (const file of await PlannedFiles.read(staging)) {
    if (await isFactFileKept(catalog, file, 0)) continue;
    await store.remove(file);
    removed++;
  }
  await rm(staging, { recursive: true, force: true });
  const before = toMicroseconds(now - GRACE_MS);
  for (const file of await listRetiredFactFiles(catalog, before)) {
    await store.remove(file);
    removed++;
  }
  await forgetRetiredFactFiles(catalog, before);
  await store.emptyTrash(now);
  return removed;
}

/** Fact files that the catalog knows nothing of. Looks at all files. */
export async function findOrphans(
  catalog: Catalog,
  store: FactStore,
): Promise<{ orphans: string[]; mayBeMoved: boolean }> {
  const files = await store.factFiles();
  const known = new Set(await listKnownFactFiles(catalog));
  const orphans = files.filter((file) => !known.has(file));
  // A catalog that knows none of the files, or few, is rather the wrong one than the files are superfluous.
  const isFew = orphans.length <= Math.max(FEW_ORPHANS, files.length / 10);
  return { orphans, mayBeMoved: isFew && orphans.length < files.length };
}

/**
 * Moves orphans to the trash, once a day; a power cut may leave some. Where they are more than a tenth of all files it
 * moves none, and says so in the sentence that it returns. Only while holding the load lock.
 */
export async function moveOrphansDaily(
  catalog: Catalog,
  store: FactStore,
  now = Date.now(),
): Promise<string | undefined> {
  if (now - (await store.touchedAt(ORPHANS_MARK)) < ORPHANS_EVERY_MS) return undefined;
  const { orphans, mayBeMoved } = await findOrphans(catalog, store);
  if (orphans.length > 0 && !mayBeMoved) {
    return `${orphans.length} fact files are unknown to the catalog, more than a tenth of all; none was touched. Is it the right catalog? 'ordinate verify' names them.`;
  }
  await store.moveToTrash(orphans, now);
  await store.touch(ORPHANS_MARK, now);
  return undefined;
}
