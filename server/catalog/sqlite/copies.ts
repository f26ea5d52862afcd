import { existsSync, readdirSync, statSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { newUuid } from '../../domain/ids.ts';
import { sqlText } from '../../runtime/sql.ts';
import type { StoredFile } from '../../storage/file-store.ts';
import { LocalFiles } from '../../storage/local-files.ts';
import type { Catalog } from '../catalog.ts';
import { lastPublication, type ManifestRow, type Progress, raiseChanges } from '../fact-files.ts';
import { CatalogFailure, nameCatalogFailure } from '../failures.ts';
import { FileLocks } from '../file-locks.ts';
import { REBUILT, requireDataFolder } from '../location.ts';
import { CatalogFile } from './catalog-file.ts';
import { schemaVersionOf } from './connection.ts';
import { forgetRevocations, heirsOf, lastRevocation } from './revocations.ts';

/** The contents of a copy. */
interface CopiedCatalog {
  readonly schema: number;
  readonly projects: number;
  /** The current fact files. */
  readonly files: readonly StoredFile[];
}

/**
 * Writes one consistent state of a data folder's catalog to a new file, during reads and writes. The file is not
 * durable yet. Blocks the event loop for as long as writing takes.
 */
export function copyCatalog(dataFolder: string, path: string): void {
  requireDataFolder(dataFolder);
  const source = join(dataFolder, 'catalog.sqlite');
  try {
    using db = new DatabaseSync(source, { readOnly: true, timeout: 30_000 });
    db.prepare(sqlText('catalog/database.copy_into')).run({ path });
  } catch (error) {
    throw nameCatalogFailure(error, source);
  }
}

/** Reads a copy without changing it. Throws if it is damaged. */
export function readCopy(path: string): CopiedCatalog {
  try {
    using db = new DatabaseSync(path, { readOnly: true });
    const rows = db.prepare(sqlText('catalog/fact-files.all')).all() as unknown as StoredFile[];
    return {
      schema: schemaVersionOf(db),
      projects: Number(db.prepare(sqlText('catalog/projects.count')).get()!['projects']),
      files: rows.map(({ file, bytes, sha256 }) => ({ file, bytes, sha256 })),
    };
  } catch (error) {
    throw nameCatalogFailure(error, path);
  }
}

/** A copy of the catalog beside the facts. */
export interface KeptCopy extends Pick<Progress, 'number' | 'changes'> {
  /** Below the data folder. */
  readonly file: string;
  /** When it was made, in milliseconds. */
  readonly at: number;
  /** The first digits of its SHA-256. */
  readonly digits: string;
}

const COPIES = 'facts/copies';
/** Records of publications and of revocations. */
const JOURNAL = 'facts/journal';
/** Changes, publication, instant and SHA-256 of a copy. */
const NAME = /^(\d{12})-(\d{12})-(\d{13,16})-([0-9a-f]{16})\.sqlite$/;
const UNFINISHED = /^unfinished-/;
/** How many copies are kept: the newest, and others of the last hour. Older ones may name files that are gone. */
const KEPT = 3;
const KEPT_MS = 3_600_000;
/** A command without a server waits for the copy of a larger catalog until a server runs. Copying takes 3 ms a megabyte. */
const CHEAP_BYTES = 32_000_000;
const PAUSE = 20;

/** The copies of a data folder, newest first. */
export function listCopies(dataFolder: string): KeptCopy[] {
  const copies = namesIn(join(dataFolder, COPIES)).flatMap((name) => {
    const [, changes, number, at, digits] = NAME.exec(name) ?? [];
    return digits === undefined
      ? []
      : [{ file: `${COPIES}/${name}`, changes: Number(changes), number: Number(number), at: Number(at), digits }];
  });
  return copies.sort((a, b) => b.changes - a.changes || b.at - a.at);
}

/** The fact files of a copy. */
export function manifestOfCopy(dataFolder: string, { file }: KeptCopy): ManifestRow[] {
  const path = join(dataFolder, file);
  try {
    using db = new DatabaseSync(path, { readOnly: true });
    return db.prepare(sqlText('catalog/fact-files.all')).all() as unknown as ManifestRow[];
  } catch (error) {
    throw nameCatalogFailure(error, path);
  }
}

export interface CopyOptions {
  /** Copies in a thread, so that this process goes on. */
  readonly inThread?: boolean;
  /** Leaves a catalog out that takes long to copy. */
  readonly ifCheap?: boolean;
  /** Removes all earlier copies: they are of another catalog. */
  readonly alone?: boolean;
  /** Milliseconds, as `Date.now`. */
  readonly now?: () => number;
}

/**
 * Copies the catalog of a data folder beside its facts, unless its last change is in a copy already, and removes copies that
 * are not kept. Returns the new copy, durable and under its name only when it is whole. Beside readers and writers; one
 * process at a time.
 */
export async function keepCopy(
  dataFolder: string,
  { inThread = false, ifCheap = false, alone = false, now = Date.now }: CopyOptions = {},
): Promise<KeptCopy | undefined> {
  const catalog = join(dataFolder, 'catalog.sqlite');
  const isCopied = (): boolean => listCopies(dataFolder)[0]?.changes === progressOf(catalog).changes;
  const bytes = await new CatalogFile(dataFolder).size();
  if (!alone && (isCopied() || (ifCheap && bytes > CHEAP_BYTES))) return undefined;
  await using _lock = await takeLock(dataFolder);
  if (!alone && isCopied()) return undefined;
  if (!alone) requireOwnCopies(dataFolder, identityIn(catalog));
  await requireRoom(dataFolder, bytes);
  const files = new LocalFiles(dataFolder);
  for (const name of namesIn(join(dataFolder, COPIES)))
    if (UNFINISHED.test(name)) await files.remove(`${COPIES}/${name}`);
  const unfinished = `${COPIES}/unfinished-${newUuid()}.sqlite`;
  const path = files.prepare(unfinished);
  try {
    const at = now();
    if (inThread) await copyInThread(dataFolder, path);
    else copyCatalog(dataFolder, path);
    const { sha256 } = await files.seal(unfinished);
    const { changes, number } = progressOf(path);
    const digits = sha256.slice(0, 16);
    const file = `${COPIES}/${padded(changes)}-${padded(number)}-${String(at).padStart(13, '0')}-${digits}.sqlite`;
    await files.rename(unfinished, file);
    await files.syncFolders();
    await thinCopies(dataFolder, now(), alone ? 1 : KEPT);
    return { file, changes, number, at, digits };
  } finally {
    await rm(path, { force: true });
  }
}

/** Throws if the copies beside the facts are of another catalog: both would be taken for one. @param own its identity */
export function requireOwnCopies(dataFolder: string, own = ''): void {
  const copied = identityOfCopies(dataFolder);
  // Most often both are equal, and the records of more than a year need not be read.
  if (copied === undefined || copied === own || heirsOf(dataFolder, own).has(copied)) return;
  const catalog = join(dataFolder, 'catalog.sqlite');
  throw new CatalogFailure(
    `'${join(dataFolder, COPIES)}' has copies of another catalog than '${catalog}'. Stop Ordinate, move '${catalog}' away with its log ('${catalog}-wal'), and run 'ordinate rebuild', which takes the newest copy.`,
  );
}

/** Throws unless the disk has room for a copy, and for as much again, which others write meanwhile. */
async function requireRoom(dataFolder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dataFolder);
  if (bavail * bsize >= 2 * bytes) return;
  const message = `its disk is full: a copy of the catalog takes ${Math.ceil(bytes / 1e6)} MB`;
  throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

/**
 * Removes copies that are not kept, and records of revocations that no backup can need.
 * @param now milliseconds
 * @param most how many copies to keep
 */
export async function thinCopies(dataFolder: string, now: number, most = KEPT): Promise<void> {
  const files = new LocalFiles(dataFolder);
  const [, ...earlier] = listCopies(dataFolder);
  for (const [index, { file, at }] of earlier.entries()) {
    if (index + 1 >= most || at < now - KEPT_MS) await files.remove(file);
  }
  await forgetRevocations(dataFolder, now);
}

async function takeLock(dataFolder: string): Promise<AsyncDisposable> {
  const locks = new FileLocks(dataFolder);
  for (;;) {
    const lock = await locks.take('copy of the catalog');
    if (lock !== undefined) return lock;
    await sleep(PAUSE);
  }
}

async function copyInThread(dataFolder: string, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const thread = new Worker(new URL('./copy-thread.ts', import.meta.url), { workerData: { dataFolder, path } });
  thread.once('error', reject);
  thread.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`The thread ended with ${code}.`))));
  await promise;
}

/** How far a catalog in a file has come. */
function progressOf(path: string): Progress {
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 30_000 });
    return db.prepare(sqlText('catalog/revisions.publication')).get() as unknown as Progress;
  } catch (error) {
    throw nameCatalogFailure(error, path);
  }
}

/** The identity of the catalog whose copies a folder has; undefined if it has none, or its newest one is damaged. */
export function identityOfCopies(dataFolder: string): string | undefined {
  const [copy] = listCopies(dataFolder);
  return copy && identityIn(join(dataFolder, copy.file));
}

/** The identity of a catalog in a file; undefined if it cannot be read. */
function identityIn(path: string): string | undefined {
  try {
    using db = new DatabaseSync(path, { readOnly: true });
    return db.prepare(sqlText('catalog/store.identity')).get()?.['catalog'] as string | undefined;
  } catch {
    return undefined;
  }
}

/** The first schema version whose catalogs have an identity. */
const FIRST_WITH_IDENTITY = 36;

/** Whether a catalog is of 0.2, which gave it no identity. @param schema its version */
export function hasNoIdentity(schema: number): boolean {
  return schema > 0 && schema < FIRST_WITH_IDENTITY;
}

/** See `identityByCopies`; undefined if the catalog has an identity of its own. @param path its file, before it is migrated */
export function copiedIdentity(dataFolder: string, path: string): string | undefined {
  try {
    using db = new DatabaseSync(path, { readOnly: true });
    return hasNoIdentity(schemaVersionOf(db)) ? identityByCopies(dataFolder, db) : undefined;
  } catch (error) {
    throw nameCatalogFailure(error, path);
  }
}

/** The identity of the copies of a folder, if they have a project of a catalog of 0.2: it is an earlier state of theirs. */
export function identityByCopies(dataFolder: string, db: DatabaseSync): string | undefined {
  const projects = projectsIn(db);
  for (const { file } of listCopies(dataFolder)) {
    try {
      using copy = new DatabaseSync(join(dataFolder, file), { readOnly: true });
      if (projects.isDisjointFrom(projectsIn(copy))) continue;
      return copy.prepare(sqlText('catalog/store.identity')).get()!['catalog'] as string;
    } catch {
      // It is damaged.
    }
  }
  return undefined;
}

/** The projects of a catalog of any version, each with its instant: loads choose their ids. */
function projectsIn(db: DatabaseSync): Set<string> {
  return new Set(
    db
      .prepare(sqlText('catalog/projects.created'))
      .all()
      .map(({ id, createdAt }) => `${String(id)} ${String(createdAt)}`),
  );
}

/** Whether a copy is as it was made. */
export async function isWhole(dataFolder: string, { file, digits }: KeptCopy): Promise<boolean> {
  const { sha256 } = await new LocalFiles(dataFolder).seal(file);
  return sha256.startsWith(digits);
}

/** Names of the journal. */
const RECORD = /^(\d{12})-([0-9a-f-]{36})\.change\.ndjson$/;

/** What the files beside the facts have come to; read before the catalog, which goes on. */
export interface Beside {
  readonly copy: KeptCopy | undefined;
  readonly record: Pick<Progress, 'number' | 'id'> | undefined;
}

export function readBeside(dataFolder: string): Beside {
  const [, number, id] =
    RECORD.exec(namesIn(join(dataFolder, JOURNAL)).findLast((name) => RECORD.test(name)) ?? '') ?? [];
  return {
    copy: listCopies(dataFolder)[0],
    record: id === undefined ? undefined : { number: Number(number), id },
  };
}

/** Throws if the files beside the facts are newer than the catalog: it is an older one that was put back. */
export function requireNewest(dataFolder: string, { copy, record }: Beside, held: Progress): void {
  if (existsSync(join(dataFolder, REBUILT))) {
    throw new CatalogFailure(
      `A rebuild of the catalog in '${dataFolder}' was interrupted. Run 'ordinate rebuild' again.`,
    );
  }
  const folder = join(dataFolder, 'facts');
  let found: string | undefined;
  if (
    record !== undefined &&
    (record.number > held.number || (record.number === held.number && record.id !== held.id))
  ) {
    found = `'${folder}' has publication ${record.number}, the catalog ends with ${held.number}`;
  } else if (copy !== undefined && copy.changes > held.changes) {
    found = `'${join(dataFolder, copy.file)}' has ${copy.changes} changes, the catalog ${held.changes}`;
  }
  if (found === undefined) return;
  throw new CatalogFailure(
    `The catalog is older than the facts: ${found}. It may have been restored from a backup. Run 'ordinate rebuild' to bring it up to date; nothing was changed.`,
  );
}

/** More changes than a lost catalog can have had after its last copy and its last revocation. */
const LOST_CHANGES = 1_000_000;

/**
 * Lets a catalog have more changes than what is beside the facts of a folder, and than any lost catalog of it: found later,
 * that one is older. Requires a transaction.
 */
export async function outnumber(tx: Catalog, dataFolder: string): Promise<void> {
  const { changes } = await lastPublication(tx);
  const most = Math.max(changes, listCopies(dataFolder)[0]?.changes ?? 0, lastRevocation(dataFolder));
  await raiseChanges(tx, most + LOST_CHANGES);
}

/** Sorted; none if there is no such folder. */
function namesIn(folder: string): string[] {
  return (statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : []).sort();
}

function padded(number: number): string {
  return String(number).padStart(12, '0');
}
