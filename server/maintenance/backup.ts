import { join, resolve } from 'node:path';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { CatalogFailure } from '../catalog/failures.ts';
import type { CatalogLocation } from '../catalog/location.ts';
import { putLastBackup, readCopy } from '../catalog/store.ts';
import { classifyFailure } from '../domain/failures.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import type { BackupStore } from '../storage/backup-store.ts';
import { MISSING } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';
import { type BackupSource, openBackupSource } from './backup-source.ts';
import { Copied, copyFiles, type DamagedSource, megabytes } from './copy-files.ts';
import {
  type BackupIndex,
  catalogFile,
  type DamagedIndex,
  idOf,
  indexFile,
  listCatalogs,
  putIndex,
  readIndexes,
} from './index-file.ts';
import { PendingFiles } from './pending-files.ts';
import { openTarget } from './target.ts';

export interface BackupOptions {
  readonly target: string;
  /** How many backups the target keeps, including this one. */
  readonly keep: number;
  /** Links files instead of copying them, if the target is on the same file system. A link is no second copy. */
  readonly link?: boolean;
  /** Compares only the size of files that an earlier backup compared by hash. */
  readonly quick?: boolean;
  readonly report?: (step: string) => void;
  /** Milliseconds, as `Date.now`. */
  readonly now?: () => number;
}

export interface BackupReport {
  readonly id: string;
  readonly time: string;
  readonly target: string;
  /** The fact files of the backup, and the bytes of all of its files. */
  readonly files: number;
  readonly bytes: number;
  readonly copied: number;
  readonly copiedBytes: number;
  readonly linked: number;
  readonly seconds: number;
  /** The number of kept backups, and the ids of expired ones that were removed. */
  readonly kept: number;
  readonly removed: readonly string[];
  readonly warnings: readonly string[];
  /** Files of the catalog that are damaged or missing, and so not in the backup, by name and with what is wrong. */
  readonly lost: readonly DamagedSource[];
}

interface Stores {
  readonly settings: CatalogLocation & StorageSettings;
  readonly catalog: OpenCatalog;
}

/** Loads may replace files faster than they are copied, but not for long. */
const MAX_SNAPSHOTS = 20;

/**
 * Backs up the catalog and the fact files that it names, wherever both are, while servers and loads may run. The index of
 * the backup is stored last, so an interrupted backup leaves all earlier ones as they were, and removes what it copied if
 * it fails. A stored file that is damaged and that the target does not have is left out and named; then no earlier backup
 * is removed, because one may be the last that has it.
 */
export async function backup({ settings, catalog }: Stores, options: BackupOptions): Promise<BackupReport> {
  const { report = () => {}, now = Date.now } = options;
  const { dataFolder } = settings;
  const startedAt = now();
  using target = await openTarget(options.target, dataFolder).catch((error: unknown) => {
    throw describe(error, resolve(options.target));
  });
  const { store } = target;
  const { indexes, damaged } = await readIndexes(store);
  const pending = await PendingFiles.read(store);
  const folder = await ProcessFolder.take(join(dataFolder, 'temporary'));
  try {
    await using source = await openBackupSource(settings, catalog);
    await store.removeUnfinished();
    const run = { store, source, pending, startedAt, now, report, indexes, folder: folder.path };
    const { index, copied, lost } = await copyAll(run, options);
    const all = [...indexes, index];
    // The files of an unreadable index are unknown, and an earlier backup may have what is lost, so nothing is removed.
    const expired = damaged.length > 0 || lost.length > 0 ? [] : all.slice(0, -options.keep);
    if (damaged.length === 0) await removeExpired(store, pending, all, expired);
    const bytes = index.files.reduce((sum, file) => sum + file.bytes, index.catalog.bytes);
    const files = index.files.length;
    const { copiedBytes } = index;
    const times = { startedAt: toMicroseconds(startedAt), finishedAt: toMicroseconds(now()) };
    await putLastBackup(catalog, { target: store.address, ...times, files, bytes, copiedBytes });
    return {
      id: index.id,
      time: index.time,
      target: store.address,
      files,
      bytes,
      copied: copied.copied,
      copiedBytes,
      linked: copied.linked,
      seconds: secondsSince(startedAt, now),
      kept: all.length - expired.length,
      removed: expired.map(({ id }) => id),
      warnings: warningsOf(store, copied, damaged, options.link === true),
      lost: lost.map(({ file, damage }) => ({ file: source.addressOf(file), damage })),
    };
  } catch (error) {
    // If this fails too, the next backup does it.
    if (damaged.length === 0) await cleanUp(store, pending).catch(() => {});
    throw describe(error, store.address);
  } finally {
    await folder.remove();
  }
}

interface Run {
  readonly store: BackupStore;
  readonly source: BackupSource;
  readonly pending: PendingFiles;
  readonly startedAt: number;
  readonly now: () => number;
  readonly report: (step: string) => void;
  /** Earlier backups, oldest first. */
  readonly indexes: readonly BackupIndex[];
  /** For temporary files. */
  readonly folder: string;
}

/** Stores all files, then the index. */
async function copyAll(
  run: Run,
  options: BackupOptions,
): Promise<{ index: BackupIndex; copied: Copied; lost: readonly DamagedSource[] }> {
  const { store, source, pending, startedAt, now, report, indexes } = run;
  const { link = false, quick = false } = options;
  const known = new Map(indexes.flatMap(({ files }) => files.map(({ file, sha256 }) => [file, sha256] as const)));
  const trusted = quick ? known : new Map<string, string>();
  const total = new Copied();
  let missing: readonly StoredFile[] = [];
  for (let snapshots = 1; ; snapshots++) {
    report('copying the catalog');
    // Later backups have later times, also if the clock was set back.
    const at = Math.max(now(), 1 + Date.parse(indexes.at(-1)?.time ?? '1970-01-01'));
    const copy = join(run.folder, `${snapshots}.sqlite`);
    await source.copyCatalog(copy, report);
    const { schema, projects, files: named } = readCopy(copy);
    // What is missing although the current catalog names it was replaced by no load.
    const isMissing = new Set(missing.map(({ file }) => file));
    const lost = named.filter(({ file }) => isMissing.has(file)).map(({ file }) => ({ file, damage: MISSING }));
    const files = named.filter(({ file }) => !isMissing.has(file));
    await pending.add(files.map(({ file }) => file).filter((file) => !known.has(file)));
    if (!link) await refuseFull(store, files);
    const copied = await copyFiles({ store, source }, files, { link, trusted, report });
    total.add(copied);
    lost.push(...copied.damaged);
    // Loads have replaced these files, and a sweep has removed them, since the catalog was copied: it is copied again.
    if (copied.missing.length > 0) {
      if (snapshots === MAX_SNAPSHOTS) throw new Error('Loads replaced files faster than they could be copied.');
      missing = [...missing, ...copied.missing];
      continue;
    }
    const id = idOf(at);
    const catalog = await store.put(catalogFile(id), copy);
    await store.flush();
    const copiedBytes = total.copiedBytes + catalog.bytes;
    const seconds = secondsSince(startedAt, now);
    const time = new Date(at).toISOString();
    const isLost = new Set(lost.map(({ file }) => file));
    const whole = files.filter(({ file }) => !isLost.has(file));
    const head = { id, time, schema, projects, seconds, copiedBytes, catalog, lost: [...isLost] };
    const index: BackupIndex = { ...head, files: whole };
    await putIndex(store, index);
    return { index, copied: total, lost };
  }
}

async function refuseFull(store: BackupStore, files: readonly StoredFile[]): Promise<void> {
  const wanted = files.reduce((sum, { file, bytes }) => sum + (store.sizeOf(file) === bytes ? 0 : bytes), 0);
  const free = await store.free();
  if (wanted <= free) return;
  throw Object.assign(new Error(`${megabytes(wanted)} MB are needed, ${megabytes(free)} MB are free`), {
    code: 'ENOSPC',
  });
}

/** Removes expired backups, then the files that no backup needs any more. */
async function removeExpired(
  store: BackupStore,
  pending: PendingFiles,
  all: readonly BackupIndex[],
  expired: readonly BackupIndex[],
): Promise<void> {
  const kept = all.slice(expired.length);
  const needed = new Set(kept.flatMap(({ files }) => files.map(({ file }) => file)));
  await pending.add(expired.flatMap(({ files }) => files.map(({ file }) => file)).filter((file) => !needed.has(file)));
  for (const { id } of expired) await store.remove(indexFile(id));
  await store.flush();
  await cleanUp(store, pending);
}

/** Removes everything that belongs to no backup. Requires that all indexes can be read. */
async function cleanUp(store: BackupStore, pending: PendingFiles): Promise<void> {
  await store.removeUnfinished();
  const { indexes } = await readIndexes(store);
  const catalogs = new Set(indexes.map(({ catalog }) => catalog.file));
  for (const file of await listCatalogs(store)) if (!catalogs.has(file)) await store.remove(file);
  await pending.settle(indexes);
}

function warningsOf(
  store: BackupStore,
  { copied, linked, repaired }: Copied,
  damaged: readonly DamagedIndex[],
  link: boolean,
): string[] {
  const warnings = repaired.map((file) => `'${store.address}/${file}' was damaged; it was copied again.`);
  for (const { file, damage } of damaged) {
    warnings.push(
      `'${store.address}/${file}' is damaged: ${damage}. Its backup cannot be restored, and until this file is removed no old backup is.`,
    );
  }
  if (link && linked === 0 && copied > 0) warnings.push('No file could be linked; they were copied.');
  return warnings;
}

function describe(error: unknown, address: string): unknown {
  if (error instanceof CatalogFailure || classifyFailure(error) !== 'disk-full') return error;
  return new Error(
    `The disk that holds '${address}' has no room for this backup (${(error as Error).message}). What it had copied was removed; earlier backups are untouched. Free some space, or keep fewer backups with --keep.`,
    { cause: error },
  );
}

function secondsSince(startedAt: number, now: () => number): number {
  return Math.round(now() - startedAt) / 1000;
}
