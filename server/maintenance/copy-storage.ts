import type { Catalog } from '../catalog/catalog.ts';
import { lastRevision, listNamedFiles, type NamedFile } from '../catalog/fact-files.ts';
import { newIdentity, openJoinedStore, readStoreIdentity } from '../catalog/store.ts';
import type { Stores } from '../load/stores.ts';
import { secondsSince } from '../runtime/measurements.ts';
import { allEnded } from '../runtime/promises.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import { type CopyTarget, openCopyTarget } from '../storage/copy-target.ts';
import type { FileStore } from '../storage/file-store.ts';
import { measure } from '../storage/local-files.ts';
import { readMark, type StoreMark, writeMark } from '../storage/store-mark.ts';
import { withPace } from './pace.ts';

export interface StorageCopyOptions {
  /** `s3://bucket/prefix`, or a data folder. */
  readonly to: string;
  readonly report?: (step: string) => void;
}

export interface StorageCopyReport {
  readonly from: string;
  readonly to: string;
  /** The files that the catalog names at the end, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly copied: number;
  readonly copiedBytes: number;
  /** Files that were there already, with the right size and checksum. */
  readonly present: number;
  /** How long all took. */
  readonly seconds: number;
  /** Lists and replaced files that could not be read; nothing depends on them. */
  readonly left: readonly string[];
}

/** Loads may add files faster than they are copied, but not for long. */
const MAX_ROUNDS = 20;

/**
 * Copies all files that the catalog names to another store, while servers and loads may run: files added meanwhile are
 * copied in further rounds. Intact files are skipped, so that an interrupted copy can continue. Throws
 * if facts cannot be read, after all other files were copied.
 */
export async function copyStorage(
  { settings, catalog }: Stores,
  { to, report = () => {} }: StorageCopyOptions,
): Promise<StorageCopyReport> {
  const started = performance.now();
  await using target = await openCopyTarget(settings, to);
  await using store = await openJoinedStore(settings, catalog);
  const before = await requireFreeTarget(catalog, target);
  const copy = new StorageCopy(store, target);
  for (let round = 1; ; round++) {
    const [revision, files] = await catalog.snapshot(async (snapshot) => [
      await lastRevision(snapshot),
      await listNamedFiles(snapshot),
    ]);
    const added = files.filter(({ file }) => !copy.done.has(file));
    if (added.length === 0) {
      await target.flush();
      const names = new Set(files.map(({ file }) => file));
      // Files replaced by a load are not needed any more.
      const lost = copy.lost.filter(([{ file, isNeeded }]) => isNeeded && names.has(file));
      if (lost.length > 0) throw describeLost(lost.map(([, message]) => message));
      await markCopy(catalog, target, before, revision);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      const left = copy.lost.map(([{ file }]) => file);
      const { copied, copiedBytes, present } = copy;
      const from = store.addressOf('').replace(/\/$/, '');
      return {
        from,
        to: target.address,
        files: files.length,
        bytes,
        copied,
        copiedBytes,
        present,
        seconds: secondsSince(started),
        left,
      };
    }
    if (round > MAX_ROUNDS)
      throw new Error('Loads added files faster than they could be copied; stop them, and copy again.');
    await copy.run(added, report);
  }
}

/** The mark of the target, if it has one. Throws for the store of another catalog, and for that of this one. */
async function requireFreeTarget(catalog: Catalog, target: CopyTarget): Promise<StoreMark | undefined> {
  const [identity, mark] = [await readStoreIdentity(catalog), await readMark(target)];
  if (mark !== undefined && mark.id === identity.store) {
    throw new Error(`'${target.address}' is the store of this catalog already: name another place with --to.`);
  }
  if (mark !== undefined && mark.catalog !== identity.catalog) {
    throw new Error(
      `'${target.address}' is the store of another catalog (${mark.id}); nothing was copied. Name an empty bucket, prefix or folder with --to.`,
    );
  }
  return mark;
}

/** Marks a complete copy: the catalog goes over to it with the first process that uses it. */
async function markCopy(
  catalog: Catalog,
  target: CopyTarget,
  before: StoreMark | undefined,
  revision: number,
): Promise<void> {
  const identity = await readStoreIdentity(catalog);
  const isAgain = before?.copyOf !== undefined && before.copyOf.id === identity.store;
  const id = isAgain ? before.id : newIdentity();
  const copyOf = identity.store === null ? {} : { copyOf: { id: identity.store, revision } };
  await writeMark(target, { id, catalog: identity.catalog, ...copyOf }, false);
}

class StorageCopy {
  readonly done = new Set<string>();
  /** Files that could not be read, and why. */
  readonly lost: (readonly [NamedFile, string])[] = [];
  copied = 0;
  copiedBytes = 0;
  present = 0;
  readonly #store: FileStore;
  readonly #target: CopyTarget;

  constructor(store: FileStore, target: CopyTarget) {
    this.#store = store;
    this.#target = target;
  }

  async run(files: readonly NamedFile[], report: (step: string) => void): Promise<void> {
    const all = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const queue = files.values();
    let number = 0;
    let bytes = 0;
    let hasFailed = false;
    const started = performance.now();
    const work = async (): Promise<void> => {
      for (const file of queue) {
        if (hasFailed) return;
        await this.#copy(file);
        this.done.add(file.file);
        bytes += file.bytes;
        const step = `comparing and copying files: ${++number} of ${files.length}, ${megabytes(bytes)} of ${megabytes(all)} MB`;
        report(withPace(step, number, started));
      }
    };
    const working = Array.from({ length: this.#target.atOnce }, () =>
      work().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
    );
    await allEnded(working);
  }

  async #copy(file: NamedFile): Promise<void> {
    if ((await this.#target.damageOf(file)) === undefined) {
      this.present++;
      return;
    }
    try {
      using opened = await this.#store.open([file]);
      const path = opened.paths[0]!;
      // Lists of older versions have no hash.
      await this.#target.put(file.sha256 === '' ? { ...file, ...(await measure(path)) } : file, path);
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      this.lost.push([file, error.message]);
      return;
    }
    this.copied++;
    this.copiedBytes += file.bytes;
  }
}

function describeLost(messages: readonly string[]): Error {
  return new Error(`Not all files could be copied; all others were.\n${messages.join('\n')}`);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });
}
