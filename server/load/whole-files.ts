import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';

/** DuckDB's line limit, in bytes. */
export const MAX_LINE = 2_000_000;
export const TOO_LONG = 'the line is longer than 2 MB.';
const CHUNK = 262_144;
const [LF, CR] = [0x0a, 0x0d];

/** Why a valid gzip file is refused: DuckDB does not read these headers. */
export const UNREAD_HEADER =
  'its gzip header has a comment, a checksum or the text flag, which are not read; pack it again: `gzip -dc FILE | gzip > NEW`.';

/** Why a file is not read. */
export interface FileRefusal {
  /** From 1; undefined if the whole file is meant. */
  readonly line?: number;
  readonly message: string;
}

/**
 * Finds what DuckDB's readers of CSV and NDJSON pass over in silence: a damaged or truncated gzip file, of which they
 * return the rows that they can unpack, and a long last line of CSV, which they leave out.
 */
export async function refusalOfFile(path: string, isCsv: boolean): Promise<FileRefusal | undefined> {
  const isPacked = path.endsWith('.gz');
  if (!isPacked && !isCsv) return undefined;
  const found = isPacked ? await unpackOnce(path) : { hasLongLine: await endsInLongLine(path) };
  if ('damage' in found) {
    return { message: `the file is damaged or cut off (${found.damage}); copy or write it again.` };
  }
  return isCsv && found.hasLongLine ? { line: (await firstLongLine(path)) ?? 1, message: TOO_LONG } : undefined;
}

/** Opens a file that may be packed. */
export function openText(path: string): Readable {
  return path.endsWith('.gz') ? unpack(path) : createReadStream(path);
}

function unpack(path: string): Gunzip {
  const file = createReadStream(path);
  const unpacked = createGunzip({ chunkSize: CHUNK });
  file.on('error', (error) => unpacked.destroy(error));
  unpacked.on('close', () => file.destroy());
  return file.pipe(unpacked);
}

/** Unpacks a gzip file. zlib compares the checksum and the length of each member. */
async function unpackOnce(path: string): Promise<{ damage: string } | { hasLongLine: boolean }> {
  const unpacked = unpack(path);
  const lines = new LongLines();
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) lines.add(chunk);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) return { damage: message };
    throw error;
  }
  // zlib stops at a zero byte after a member.
  const rest = (await stat(path)).size - unpacked.bytesWritten;
  return rest > 0 ? { damage: `${rest} bytes after its end are not gzip` } : { hasLongLine: lines.first !== undefined };
}

/** Finds lines longer than `MAX_LINE` in chunks that are shorter than such a line. */
class LongLines {
  /** The first long line, from 1 if lines are counted; undefined if there is none. */
  first: number | undefined;
  #lineFeeds = 0;
  #returns = 0;
  #length = 0;
  readonly #isCounting: boolean;

  constructor({ isCounting = false } = {}) {
    this.#isCounting = isCounting;
  }

  add(chunk: Buffer): void {
    const end = firstLineEnd(chunk);
    this.#length += end === -1 ? chunk.length : end;
    if (this.#length > MAX_LINE) this.first ??= 1 + Math.max(this.#lineFeeds, this.#returns);
    if (end === -1) return;
    if (this.#isCounting) {
      const text = chunk.toString('latin1');
      this.#lineFeeds += text.split('\n').length - 1;
      this.#returns += text.split('\r').length - 1;
    }
    this.#length = chunk.length - lastLineEnd(chunk) - 1;
  }
}

/** The first line of a CSV file that is longer than `MAX_LINE`, from 1. */
export async function firstLongLine(path: string): Promise<number | undefined> {
  const lines = new LongLines({ isCounting: true });
  for await (const chunk of openText(path) as AsyncIterable<Buffer>) {
    lines.add(chunk);
    if (lines.first !== undefined) break;
  }
  return lines.first;
}

/** Reads a file from its end. */
async function endsInLongLine(path: string): Promise<boolean> {
  await using file = await open(path);
  const { size } = await file.stat();
  let length = 0;
  for (let end = size; end > 0 && length <= MAX_LINE; end -= CHUNK) {
    const start = Math.max(0, end - CHUNK);
    const { buffer } = await file.read(Buffer.alloc(end - start), { position: start });
    const text = length === 0 ? withoutLineEnds(buffer) : buffer;
    const before = lastLineEnd(text);
    length += text.length - before - 1;
    if (before !== -1) break;
  }
  return length > MAX_LINE;
}

function withoutLineEnds(text: Buffer): Buffer {
  const last = text.findLastIndex((byte) => byte !== LF && byte !== CR);
  return text.subarray(0, last + 1);
}

function firstLineEnd(text: Buffer): number {
  const ends = [text.indexOf(LF), text.indexOf(CR)].filter((at) => at !== -1);
  return ends.length === 0 ? -1 : Math.min(...ends);
}

function lastLineEnd(text: Buffer): number {
  return Math.max(text.lastIndexOf(LF), text.lastIndexOf(CR));
}
