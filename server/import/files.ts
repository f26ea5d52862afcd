import { createWriteStream, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ImportRefused } from '../load/import-rows.ts';
import { unusableFile } from '../load/snapshot-files.ts';
import { refusalOfFile } from '../load/whole-files.ts';

/** Unpacked; an export of the user interface has less than a megabyte. */
const MAX_UNPACKED = 2_000_000_000;

/** A CSV file of an export. */
export interface SourceFile {
  /** Its path, perhaps unpacked. */
  readonly path: string;
  /** For messages: with its archive or folder if files came in several. */
  readonly name: string;
  readonly base: string;
  /** The folder or archive that it came in: its files are one export. */
  readonly group: string;
}

/** The CSV files of paths: files, folders and archives. @param folder where archives are unpacked */
export async function findFiles(paths: readonly string[], folder: string): Promise<readonly SourceFile[]> {
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
      else files.push(sourceFile(file, basename(file), dirname(file)));
    }
  }
  const all = withGroups([...new Map(files.map((file) => [file.path, file])).values()]);
  for (const { path, name } of all) {
    const refusal = await refusalOfFile(path, true);
    if (refusal === undefined) continue;
    throw new ImportRefused(`'${name}'${refusal.line ? `, line ${refusal.line}` : ''}: ${refusal.message}`);
  }
  return all;
}

function sourceFile(path: string, name: string, group: string): SourceFile {
  const base = name.normalize('NFC');
  return { path, name: base, base, group };
}

/** Names files of several archives or folders with these: all exports of the user interface have the same names inside. */
function withGroups(files: readonly SourceFile[]): readonly SourceFile[] {
  const groups = [...new Set(files.map(({ group }) => group))];
  if (groups.length < 2) return files;
  const short = new Set(groups.map((group) => basename(group)));
  const nameOf = (group: string): string => (short.size === groups.length ? basename(group) : group);
  return files.map((file) => ({ ...file, name: `${nameOf(file.group)}/${file.name}` }));
}

/** Files below a folder, in order, without hidden ones. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Unpacks the CSV files of an archive, one after the other, in bounded memory. */
async function unpack(archive: string, folder: string): Promise<SourceFile[]> {
  const files: (SourceFile & { readonly inside: string })[] = [];
  mkdirSync(folder, { recursive: true });
  try {
    const zip = await openPromise(archive);
    let size = 0;
    // Closes the archive at its end.
    for await (const entry of zip.eachEntry()) {
      const name = basename(entry.fileName).normalize('NFC');
      if (!/\.csv$/i.test(name) || name.startsWith('.')) continue;
      size += entry.uncompressedSize;
      if (size > MAX_UNPACKED) throw new ImportRefused(`'${archive}' is larger than 2 GB when unpacked.`);
      // Its own name may be unsafe.
      const path = join(folder, `${files.length}.csv`);
      await unpackEntry(zip, entry, path);
      files.push({ ...sourceFile(path, name, archive), inside: entry.fileName });
    }
  } catch (cause) {
    // The disk has failed, not the archive.
    if (cause instanceof ImportRefused || (cause as NodeJS.ErrnoException).syscall !== undefined) throw cause;
    throw new ImportRefused(
      `'${archive}' is damaged or cut off, or not a zip file: ${(cause as Error).message.replace(/\.$/, '')}. Copy or download it again.`,
      { cause },
    );
  }
  if (files.length === 0) throw new ImportRefused(`'${archive}' has no CSV file.`);
  return files.map(({ inside, ...file }, index) => {
    const same = files.filter(({ base }) => base === file.base);
    if (same.length === 1) return file;
    const isRepeated = same.filter((other) => other.inside === inside).length > 1;
    return { ...file, name: isRepeated ? `${inside} (CSV file ${index + 1} of the archive)` : inside };
  });
}

/** Fails unless the entry has the size and the checksum that the archive declares; yauzl compares only the size. */
async function unpackEntry(zip: ZipFile, entry: Entry, path: string): Promise<void> {
  let checksum = 0;
  async function* summed(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  }
  await pipeline(await zip.openReadStreamPromise(entry), summed, createWriteStream(path));
  if (checksum !== entry.crc32) throw new Error(`the content of '${entry.fileName}' does not match its checksum`);
}
