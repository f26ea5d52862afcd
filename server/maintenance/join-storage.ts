import { listNamedFiles } from '../catalog/fact-files.ts';
import { newIdentity, putStore, readStoreIdentity } from '../catalog/store.ts';
import type { Stores } from '../load/stores.ts';
import type { FileStore } from '../storage/file-store.ts';
import { openFileStore } from '../storage/open-file-store.ts';
import { readMark, writeMark } from '../storage/store-mark.ts';

export interface StorageJoinReport {
  readonly storage: string;
  /** The identity of the store. */
  readonly store: string;
  /** The files of facts that it has, and their bytes. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * Makes the store of the settings that of the catalog, whatever either belonged to before. Throws, and changes nothing, if
 * it lacks a fact file that the catalog names, or has it with another size.
 */
export async function joinStorage({ settings, catalog }: Stores): Promise<StorageJoinReport> {
  await using store = await openFileStore(settings);
  const address = store.addressOf('').replace(/\/$/, '');
  const marked = { mark: store.mark, address };
  const files = (await listNamedFiles(catalog)).filter(({ isNeeded }) => isNeeded);
  const sizes = await sizesOf(store);
  const missing = files.filter((file) => (sizes ? sizes.get(file.file) !== file.bytes : !store.mayHave(file)));
  if (missing.length > 0) {
    throw new Error(
      `'${address}' lacks ${missing.length} of the ${files.length} files of facts that the catalog names, such as '${missing[0]!.file}'; nothing was changed. Copy them there first.`,
    );
  }
  const id = await catalog.transaction(async (tx) => {
    const identity = await readStoreIdentity(tx);
    const mark = (await readMark(marked)) ?? { id: newIdentity(), catalog: identity.catalog };
    await writeMark(marked, mark, true);
    await putStore(tx, { id: mark.id, address });
    return mark.id;
  });
  return { storage: address, store: id, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** The sizes of all objects; undefined for a folder, whose files are asked one by one. */
async function sizesOf(store: FileStore): Promise<ReadonlyMap<string, number> | undefined> {
  if (store.listObjects === undefined) return undefined;
  const sizes = new Map<string, number>();
  for await (const page of store.listObjects()) for (const { file, bytes } of page) sizes.set(file, bytes);
  return sizes;
}
