import { readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newUuid } from '../../domain/ids.ts';
import { LocalFiles } from '../../storage/local-files.ts';
import type { Catalog, Values } from '../catalog.ts';
import { CatalogFailure } from '../failures.ts';

/**
 * The statements that say who may come in or be written to, and who not any more. They are recorded beside the facts before
 * the commit, and run again on a catalog that is older: what was revoked stays so. None of them inserts a row, so that nobody
 * is let in again, and each can be run again, by ids that are never used again. A record whose process was killed before the
 * commit revokes what somebody wanted to revoke. Names and parameters must be known for as long as records are kept.
 */
export const REVOCATIONS: ReadonlySet<string> = new Set([
  'keys.revoke',
  'keys.replace',
  'feeds.revoke',
  'shares.revoke',
  'members.change_role',
  'members.remove',
  'channels.disable',
  'channels.remove',
  'deliveries.cancel',
  'grants.remove',
  'grants.remove_unused',
  'connections.remove',
]);

interface Statement {
  readonly statement: string;
  readonly values: Values;
}

/** The revocations of one transaction. */
export interface Revocation {
  /** The number of the transaction among the changes of the catalog. */
  readonly changes: number;
  /** The identity of the catalog. */
  readonly catalog: string;
  /** The identity of the catalog in the backup that this one was restored from, in its first record. */
  readonly restoredFrom?: string;
  readonly statements: readonly Statement[];
}

const FOLDER = 'facts/journal';
const NAME = /^(\d{12})-[0-9a-f-]{36}\.revoked\.json$/;
const UNFINISHED = /\.revoked\.json\.unfinished$/;
const DAY_MS = 86_400_000;
/** As long as somebody may restore a backup. */
const KEPT_MS = 400 * DAY_MS;

/**
 * Records revocations durably. Call it in their transaction, before the commit. Returns a function that removes the record, if
 * the commit fails.
 */
export async function keepRevocation(dataFolder: string, revocation: Revocation): Promise<() => Promise<void>> {
  const files = new LocalFiles(dataFolder);
  const name = `${FOLDER}/${String(revocation.changes).padStart(12, '0')}-${newUuid()}.revoked.json`;
  const unfinished = `${name}.unfinished`;
  await writeFile(files.prepare(unfinished), JSON.stringify(revocation), { mode: 0o600 });
  await files.seal(unfinished);
  await files.move(unfinished, name);
  await files.syncFolders();
  return () => files.remove(name);
}

/**
 * The revocations of a catalog after a number of changes, and of those that were restored from its backups, oldest first.
 * @param catalog its identity
 */
export function revocationsAfter(dataFolder: string, changes: number, catalog: string): Revocation[] {
  const later = read(recorded(dataFolder).filter((record) => record.changes > changes));
  const heirs = heirsAmong(later, catalog);
  return later.filter((revocation) => heirs.has(revocation.catalog));
}

/** The identities of a catalog and of those that were restored from its backups, as far as a data folder knows. */
export function heirsOf(dataFolder: string, catalog: string): ReadonlySet<string> {
  return heirsAmong(read(recorded(dataFolder)), catalog);
}

function heirsAmong(revocations: readonly Revocation[], catalog: string): ReadonlySet<string> {
  const heirs = new Set([catalog]);
  for (const { catalog: heir, restoredFrom } of revocations) {
    if (restoredFrom !== undefined && heirs.has(restoredFrom)) heirs.add(heir);
  }
  return heirs;
}

/**
 * Copies the records of a catalog and its heirs from one data folder to another, into which it is restored, so that they
 * count there for the next restore. @param from the identity of the catalog in the backup
 * @param heir the restored catalog
 */
export async function inheritRevocations(
  usedFolder: string,
  dataFolder: string,
  from: string,
  { catalog, changes }: Pick<Revocation, 'catalog' | 'changes'>,
): Promise<void> {
  const records = recorded(usedFolder);
  const revocations = read(records);
  const heirs = heirsAmong(revocations, from);
  const to = new LocalFiles(dataFolder);
  for (const [index, { name, path }] of records.entries()) {
    if (!heirs.has(revocations[index]!.catalog)) continue;
    const file = `${FOLDER}/${name}`;
    await copyFile(path, to.prepare(file));
    // Their age tells how long they are kept.
    const { atime, mtime } = statSync(path);
    await utimes(to.path(file), atime, mtime);
    await to.seal(file);
  }
  await keepRevocation(dataFolder, { changes, catalog, restoredFrom: from, statements: [] });
  await to.syncFolders();
}

/** The number of changes of the last revocation of any catalog; 0 for none. */
export function lastRevocation(dataFolder: string): number {
  return recorded(dataFolder).at(-1)?.changes ?? 0;
}

/** Runs revocations again. What they are about may be gone. Requires a transaction. */
export async function revokeAgain(tx: Catalog, revocations: readonly Revocation[]): Promise<void> {
  for (const { statement, values } of revocations.flatMap(({ statements }) => statements)) {
    // As a template it is not recorded again.
    await whereOwned(tx.statements.run({ template: statement, fills: {} }, values));
  }
}

/** Removes the records of revocations that no backup can need any more, and unfinished ones. @param now milliseconds */
export async function forgetRevocations(dataFolder: string, now: number): Promise<void> {
  const files = new LocalFiles(dataFolder);
  for (const name of await files.names(FOLDER)) {
    const kept = NAME.test(name) ? KEPT_MS : UNFINISHED.test(name) ? DAY_MS : Number.POSITIVE_INFINITY;
    const found =
      kept < Number.POSITIVE_INFINITY && statSync(files.path(`${FOLDER}/${name}`), { throwIfNoEntry: false });
    if (found && found.mtimeMs < now - kept) await files.remove(`${FOLDER}/${name}`);
  }
}

function read(records: readonly Pick<RecordFile, 'path'>[]): Revocation[] {
  return records.map(({ path }) => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Revocation;
    } catch (error) {
      // Left out, what it has revoked might be valid again without anybody knowing.
      throw new CatalogFailure(
        `The record '${path}' of what was revoked cannot be read (${(error as Error).message}). Move it away, and revoke again what was revoked when it was written.`,
        { cause: error },
      );
    }
  });
}

interface RecordFile {
  readonly name: string;
  readonly path: string;
  readonly changes: number;
}

/** The records of a data folder, oldest first. */
function recorded(dataFolder: string): RecordFile[] {
  const folder = join(dataFolder, FOLDER);
  const names = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder).sort() : [];
  return names.flatMap((name) => {
    const changes = NAME.exec(name)?.[1];
    return changes === undefined ? [] : [{ name, path: join(folder, name), changes: Number(changes) }];
  });
}

/** Waits for a statement, which changes nothing if the row that it refers to is gone (SQLITE_CONSTRAINT). */
export async function whereOwned(statement: Promise<unknown>): Promise<void> {
  await statement.catch((error: unknown) => {
    if (!(error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 19)) throw error;
  });
}
