import { randomUUID } from 'node:crypto';
import { classifyFailure } from '../domain/failures.ts';
import type { Microseconds } from '../domain/instants.ts';
import { DamagedFile, MISSING } from '../storage/checked-files.ts';
import type { FileFolder, FileStore, ListedObject, OpenFiles, Span, StoredFile } from '../storage/file-store.ts';
import { openFileStore } from '../storage/open-file-store.ts';
import { StorageAway } from '../storage/s3/remote-files.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';
import { type MarkPlace, readMark, type StoreMark, writeMark } from '../storage/store-mark.ts';
import type { Catalog, OpenCatalog } from './catalog.ts';
import { listFactFilesSince, listNewestFactFiles, raiseAllRevisions } from './fact-files.ts';
import { CatalogFailure } from './failures.ts';

/** The identity of a catalog and of its file store. */
export interface StoreIdentity {
  readonly catalog: string;
  /** Null before both are joined. */
  readonly store: string | null;
  /** The address of the store when it was joined; other machines may name it otherwise. */
  readonly address: string | null;
}

/** Throws `CatalogFailure` for a catalog whose rows are gone. */
export async function readStoreIdentity(catalog: Catalog): Promise<StoreIdentity> {
  const identity = await catalog.statements.get<StoreIdentity>('store.identity');
  if (identity !== undefined) return identity;
  throw new CatalogFailure(
    'The catalog has lost its rows, which name the facts; nothing was changed. Restore it from a backup.',
  );
}

/** Joins the catalog with a store. Requires a transaction. */
export async function putStore(tx: Catalog, { id, address }: { id: string; address: string }): Promise<void> {
  await tx.statements.run('store.join', { store: id, address });
}

/** Makes a restored catalog another one than its original, which joins the store of its files. Requires a transaction. */
async function forgetStore(tx: Catalog): Promise<void> {
  await tx.statements.run('store.part', { catalog: newIdentity() });
}

export function newIdentity(): string {
  return randomUUID().replaceAll('-', '');
}

/** A successful backup. It took `finishedAt - startedAt`. */
export interface LastBackup {
  /** The folder or address of the backup. */
  readonly target: string;
  readonly startedAt: Microseconds;
  readonly finishedAt: Microseconds;
  /** Fact files, and bytes of all files including the catalog. */
  readonly files: number;
  readonly bytes: number;
  /** Bytes that were not in the target before. */
  readonly copiedBytes: number;
}

/** The last successful backup of this data folder; undefined if there was none. */
export async function readLastBackup(catalog: Catalog): Promise<LastBackup | undefined> {
  return catalog.statements.get<LastBackup>('store.last_backup');
}

export async function putLastBackup(catalog: Catalog, backup: LastBackup): Promise<void> {
  await catalog.statements.run('store.put_last_backup', { ...backup });
}

/**
 * Removes from a restored catalog what its data folder does not have (lists, replaced files) and what must not be valid
 * again (sessions, one-time links, invitations). Raises all revisions above any that was served before. Requires a transaction.
 * @param options `keepsStore`: it is restored beside the store that it had, whose files are still there
 */
export async function settleRestored(tx: Catalog, { keepsStore }: { readonly keepsStore: boolean }): Promise<void> {
  if (!keepsStore) await forgetStore(tx);
  await tx.statements.run('lists.remove_all');
  // After the lists, because each one is retired when it is deleted.
  await tx.statements.run('lists.forget_all_retired');
  await tx.statements.run('fact-files.forget_all_retired');
  await endAccess(tx);
  await raiseAllRevisions(tx);
}

/**
 * Ends what lets somebody in once or for some time, in a catalog that is older than the last use: some may have been used or
 * ended since. Requires a transaction.
 */
export async function endAccess(tx: Catalog): Promise<void> {
  await tx.statements.run('sessions.end_all');
  await tx.statements.run('sessions.forget_all_links');
  await tx.statements.run('invitations.forget_all');
}

/** Damage of the catalog file; empty if it is intact. */
export async function findCatalogDamage(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ result: string }>('database.check');
  return rows.map(({ result }) => result).filter((result) => result !== 'ok');
}

export { sealCatalog } from './sqlite/connection.ts';
export {
  copiedIdentity,
  copyCatalog,
  identityOfCopies,
  isWhole,
  type KeptCopy,
  keepCopy,
  listCopies,
  manifestOfCopy,
  outnumber,
  readBeside,
  readCopy,
  requireOwnCopies,
  thinCopies,
} from './sqlite/copies.ts';
export { heirsOf, inheritRevocations, revocationsAfter, revokeAgain, whereOwned } from './sqlite/revocations.ts';

/** How many files show whether a store has those of a catalog: a few of them may be lost. */
const SAMPLE = 8;

/** The file store is not that of the catalog. */
export class WrongStore extends Error {
  /** Clients may try again: another node has the right one. */
  readonly resource = 'storage-away';

  constructor(message: string) {
    super(message);
    this.name = 'WrongStore';
  }
}

/**
 * Opens the file store of the settings, and compares it with the one of the catalog before anything is read or written;
 * joins both if the catalog has none yet. Throws `WrongStore`. Dispose of the result.
 * @param options `mayBeAway`: a store that is away is compared when it is used
 */
export async function openJoinedStore(
  settings: StorageSettings,
  catalog: OpenCatalog,
  { mayBeAway = false } = {},
): Promise<JoinedStore> {
  const store = new JoinedStore(await openFileStore(settings), catalog, hasOwnCatalog(settings));
  try {
    await store.compare();
  } catch (error) {
    const isAway = classifyFailure(error) === 'storage-away' && !(error instanceof WrongStore);
    if (mayBeAway && isAway) return store;
    await store[Symbol.asyncDispose]();
    throw error;
  }
  return store;
}

/** Whether a folder has both the catalog and the files. */
function hasOwnCatalog({ catalogUrl, storage }: StorageSettings): boolean {
  return catalogUrl === '' && storage === '';
}

/** The file store of a catalog. */
export class JoinedStore implements FileStore {
  readonly #store: FileStore;
  readonly #catalog: OpenCatalog;
  readonly #isOwn: boolean;
  /** Undefined until it was compared; null if it could not be joined, because one of both is read-only. */
  #id: string | null | undefined;

  constructor(store: FileStore, catalog: OpenCatalog, isOwn: boolean) {
    this.#store = store;
    this.#catalog = catalog;
    this.#isOwn = isOwn;
  }

  get folder(): FileFolder | undefined {
    return this.#store.folder;
  }

  get mark(): MarkPlace {
    return this.#store.mark;
  }

  get listObjects(): (() => AsyncIterable<readonly ListedObject[]>) | undefined {
    const store = this.#store;
    return store.listObjects && (() => store.listObjects!());
  }

  /** Throws `WrongStore` if this is not the store of the catalog. */
  async compare(): Promise<void> {
    this.#id ??= await joinStores(this.#catalog, this.#store, this.#isOwn);
  }

  /** Throws `WrongStore` if the catalog has gone to another store since. @param catalog a transaction, until its commit */
  async requireCurrent(catalog: Catalog = this.#catalog): Promise<void> {
    await this.compare();
    if (this.#id === null) return;
    const identity = await readStoreIdentity(catalog);
    if (identity.store !== this.#id) throw wrong(identity, addressOf(this.#store), this.#id!);
  }

  async open(files: readonly StoredFile[]): Promise<OpenFiles> {
    if (this.#id === undefined) await this.compare();
    try {
      return await this.#store.open(files);
    } catch (error) {
      if (error instanceof DamagedFile && error.damage === MISSING) await this.requireCurrent();
      throw error;
    }
  }

  async *read(file: StoredFile, span: Span): AsyncGenerator<Buffer> {
    await this.compare();
    yield* this.#store.read(file, span);
  }

  async copy(file: StoredFile, target: string): Promise<void> {
    await this.compare();
    await this.#store.copy(file, target);
  }

  mayHave(file: StoredFile): boolean {
    return this.#store.mayHave(file);
  }

  async reach(file: string): Promise<void> {
    await this.requireCurrent();
    await this.#store.reach(file);
  }

  prepare(file: string): string {
    return this.#store.prepare(file);
  }

  async seal(file: string): Promise<StoredFile> {
    await this.requireCurrent();
    return this.#store.seal(file);
  }

  syncFolders(): Promise<void> {
    return this.#store.syncFolders();
  }

  async remove(file: string): Promise<void> {
    await this.compare();
    await this.#store.remove(file);
  }

  async damageOf(
    file: StoredFile,
    options?: { readonly deep?: boolean; readonly soon?: boolean },
  ): Promise<string | undefined> {
    await this.compare();
    return this.#store.damageOf(file, options);
  }

  addressOf(file: string): string {
    return this.#store.addressOf(file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}

/** The id of the store after both are joined; null if they cannot be joined, because one of them is read-only. */
async function joinStores(catalog: OpenCatalog, store: FileStore, isOwn: boolean): Promise<string | null> {
  const known = await decide(catalog, store, isOwn);
  if (known.joined !== undefined) return known.joined;
  try {
    // One process at a time.
    return await catalog.transaction(async (tx) => {
      const { joined, next, lost, catalog: id } = await decide(tx, store, isOwn);
      if (joined !== undefined) return joined;
      const mark = next ?? (await newMark(store, lost ?? { id: newIdentity(), catalog: id }));
      await putStore(tx, { id: mark.id, address: addressOf(store) });
      return mark.id;
    });
  } catch (error) {
    const failure = classifyFailure(error);
    if (failure === 'read-only' || failure === 'disk-full') return null;
    // This node may only read the store, and `decide` has found the files in it. One that may write joins them.
    if (error instanceof StorageAway && error.isDenied) return null;
    throw error;
  }
}

interface Decision {
  readonly catalog: string;
  /** The id of the store, if both are joined. */
  readonly joined?: string;
  /** The mark of a store to join; undefined for a store without one. */
  readonly next?: StoreMark;
  /** The mark that the store has lost. */
  readonly lost?: StoreMark;
}

/** Whether a store is that of the catalog, or may become it. Throws `WrongStore` if not. */
async function decide(catalog: Catalog, store: FileStore, isOwn: boolean): Promise<Decision> {
  const marked = { mark: store.mark, address: addressOf(store) };
  const [identity, mark] = await Promise.all([readStoreIdentity(catalog), readMark(marked)]);
  if (identity.store !== null) {
    if (mark?.id === identity.store) return { catalog: identity.catalog, joined: mark.id };
    // A folder that was copied by hand, with its catalog and without its mark.
    if (mark === undefined && isOwn && (await hasFilesOf(catalog, store)) === true) {
      return { catalog: identity.catalog, lost: { id: identity.store, catalog: identity.catalog } };
    }
    if (mark?.copyOf?.id !== identity.store) throw wrong(identity, marked.address, mark?.id);
    await requireCopied(catalog, store, mark.copyOf.revision);
    return { catalog: identity.catalog, next: mark };
  }
  if (mark !== undefined && (mark.catalog === identity.catalog || isOwn)) {
    return { catalog: identity.catalog, next: mark };
  }
  const hasFiles = await hasFilesOf(catalog, store);
  if (hasFiles === false) {
    throw new WrongStore(
      `The catalog names files, and '${marked.address}' has none of the newest ones: it is another store. Nothing was read or written. Correct ORDINATE_STORAGE (without it, files are in ORDINATE_DATA).`,
    );
  }
  if (mark !== undefined && hasFiles === undefined) {
    throw new WrongStore(
      `'${marked.address}' is the store of another catalog (${mark.id}). Nothing was read or written. Correct ORDINATE_STORAGE or ORDINATE_CATALOG; a new catalog needs an empty bucket, prefix or folder. If they belong together, run 'ordinate storage join'.`,
    );
  }
  return { catalog: identity.catalog, ...(mark && { next: mark }) };
}

/** Marks a store that had no mark. */
async function newMark(store: FileStore, mark: StoreMark): Promise<StoreMark> {
  const marked = { mark: store.mark, address: addressOf(store) };
  if (await writeMark(marked, mark, true)) return mark;
  const other = await readMark(marked);
  if (other?.catalog === mark.catalog) return other;
  throw new WrongStore(`'${marked.address}' was joined with another catalog just now. Nothing was read or written.`);
}

function wrong({ store, address }: StoreIdentity, found: string, mark: string | undefined): WrongStore {
  const what = mark === undefined ? 'is not marked as a store of Ordinate' : `is the store ${mark}`;
  return new WrongStore(
    `The files of this catalog are in the store ${store} ('${address}' when it was joined), but '${found}' ${what}. Nothing was read or written. Correct ORDINATE_STORAGE (without it, files are in ORDINATE_DATA). If all files were moved to '${found}', 'ordinate storage join' checks that and joins it.`,
  );
}

/** Throws `WrongStore` if a copy lacks files that were added after it was made. */
async function requireCopied(catalog: Catalog, store: FileStore, revision: number): Promise<void> {
  const missing: string[] = [];
  for (const file of await listFactFilesSince(catalog, revision)) {
    if (!(await isThere(store, file))) missing.push(file);
  }
  if (missing.length === 0) return;
  throw new WrongStore(
    `${missing.length} files were added after '${addressOf(store)}' was copied, such as '${missing[0]}'. Nothing was read or written. Run 'ordinate storage copy' again, with ORDINATE_STORAGE as it was before.`,
  );
}

/** Whether a store has any of the newest files of the catalog; undefined if it names none. */
async function hasFilesOf(catalog: Catalog, store: FileStore): Promise<boolean | undefined> {
  const newest = await listNewestFactFiles(catalog, SAMPLE);
  if (newest.length === 0) return undefined;
  for (const file of newest) if (await isThere(store, file)) return true;
  return false;
}

async function isThere(store: FileStore, file: string): Promise<boolean> {
  try {
    await store.reach(file);
    return true;
  } catch (error) {
    if (classifyFailure(error) !== undefined) throw error;
    return false;
  }
}

function addressOf(store: FileStore): string {
  return store.addressOf('').replace(/\/$/, '');
}
