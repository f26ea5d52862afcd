import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { unzip } from 'fflate';
import { ImportRefused } from '../load/import-rows.ts';
import { unusableFile } from '../load/snapshot-files.ts';

/** Unpacked; an export of the user interface has less than a megabyte. */
const MAX_UNPACKED = 2_000_000_000;

/** A CSV file of an export. */
export interface SourceFile {
  /** Where it is, or was unpacked to. */
  readonly path: string;
  readonly name: string;
  /** The folder or archive that it came in: its files are one export. */
  readonly group: string;
}

/** The CSV files of paths: files, folders and archives. @param folder where archives are unpacked */
export async function findFiles(paths: readonly string[], folder: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw new ImportRefused(`There is no file or folder '${path}'.`);
    const inside = found.isDirectory() ? filesOf(resolve(path)) : [resolve(path)];
    const known = inside.filter((name) => /\.(csv|zip)$/i.test(name));
    if (known.length === 0) throw new ImportRefused(`'${path}' has no CSV or zip file.`);
    for (const file of known) {
      const reason = unusableFile(file);
      if (reason !== undefined) throw new ImportRefused(`'${file}' ${reason}`);
      if (/\.zip$/i.test(file)) files.push(...(await unpack(file, join(folder, `archive-${files.length}`))));
      else files.push({ path: file, name: basename(file).normalize('NFC'), group: dirname(file) });
    }
  }
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

/** Files below a folder, in order; hidden ones are none of an export. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function unpack(archive: string, folder: string): Promise<SourceFile[]> {
  let size = 0;
  const unpacking = Promise.withResolvers<Record<string, Uint8Array>>();
  const bytes = await readFile(archive);
  const filter = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    if (!/\.csv$/i.test(name) || basename(name).startsWith('.')) return false;
    size += originalSize;
    return size <= MAX_UNPACKED;
  };
  unzip(bytes, { filter }, (error, entries) => (error ? unpacking.reject(error) : unpacking.resolve(entries)));
  const entries = await unpacking.promise.catch((cause: unknown) => {
    throw new ImportRefused(`'${archive}' cannot be read as a zip file.`, { cause });
  });
  if (size > MAX_UNPACKED) throw new ImportRefused(`'${archive}' is larger than 2 GB when unpacked.`);
  mkdirSync(folder, { recursive: true });
  const files: SourceFile[] = [];
  for (const [name, content] of Object.entries(entries)) {
    // Not by its own name, which may be any.
    const path = join(folder, `${files.length}.csv`);
    await writeFile(path, content);
    files.push({ path, name: basename(name).normalize('NFC'), group: archive });
  }
  if (files.length === 0) throw new ImportRefused(`'${archive}' has no CSV file.`);
  return files;
}
