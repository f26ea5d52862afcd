import { createHash } from 'node:crypto';
import type { BackupStore } from '../storage/backup-store.ts';
import type { StoredFile } from '../storage/file-store.ts';

/** The contents of a backup. It exists once its index is stored: `indexes/ID.ndjson`, written last. */
export interface BackupIndex {
  /** The time of the catalog's state, as a file name: `2026-03-22T10-11-12.123Z`. */
  readonly id: string;
  /** The same as an ISO instant. */
  readonly time: string;
  /** The version of the catalog's schema. */
  readonly schema: number;
  readonly projects: number;
  /** Seconds that the backup took, and bytes that were not in the target before. */
  readonly seconds: number;
  readonly copiedBytes: number;
  readonly catalog: StoredFile;
  /** Files of the catalog that were damaged or missing, and so are not in the backup; an older version does not say so. */
  readonly lost?: readonly string[];
  /** The current fact files of the catalog, without those. */
  readonly files: readonly StoredFile[];
}

/** An index that cannot be read. */
export interface DamagedIndex {
  readonly id: string;
  readonly file: string;
  readonly damage: string;
}

const FOLDER = 'indexes';
const NAME = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)\.ndjson$/;
const FORMAT = 1;
const FACT_FILE = /^facts\/\w+\/\w+\/[\w-]+\.parquet$/;

type Head = Omit<BackupIndex, 'files'> & { readonly format: number; readonly files: number };

export const indexFile = (id: string): string => `${FOLDER}/${id}.ndjson`;
export const catalogFile = (id: string): string => `catalogs/${id}.sqlite`;
const CATALOG_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.sqlite$/;

/** The catalogs in a target, also those of interrupted backups; other files are ignored. */
export async function listCatalogs(store: BackupStore): Promise<string[]> {
  const names = await store.names('catalogs');
  return names.filter((name) => CATALOG_NAME.test(name)).map((name) => `catalogs/${name}`);
}

/** @param milliseconds as `Date.now` */
export function idOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replaceAll(':', '-');
}

/** All backups of a target, oldest first, and the indexes that cannot be read. */
export async function readIndexes(store: BackupStore): Promise<{ indexes: BackupIndex[]; damaged: DamagedIndex[] }> {
  const indexes: BackupIndex[] = [];
  const damaged: DamagedIndex[] = [];
  for (const name of await store.names(FOLDER)) {
    const id = NAME.exec(name)?.[1];
    if (id === undefined) continue;
    const file = indexFile(id);
    const found = parse((await store.getText(file)) ?? '');
    if (typeof found === 'string') damaged.push({ id, file, damage: found });
    else indexes.push(found);
  }
  return { indexes, damaged };
}

/** Stores an index: from now on its backup exists. */
export async function putIndex(store: BackupStore, { files, ...head }: BackupIndex): Promise<void> {
  const first: Head = { format: FORMAT, ...head, files: files.length };
  const text = [first, ...files].map((line) => `${JSON.stringify(line)}\n`).join('');
  await store.putText(indexFile(head.id), `${text}${JSON.stringify({ end: sha256Of(text) })}\n`);
}

/** Returns a sentence for an incomplete index. */
function parse(text: string): BackupIndex | string {
  const start = text.lastIndexOf('{"end":');
  const body = text.slice(0, Math.max(0, start));
  if (start < 0 || text.slice(start) !== `${JSON.stringify({ end: sha256Of(body) })}\n`) {
    return 'it is cut off or its content has changed';
  }
  const [head, ...files] = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown) as [Head, ...StoredFile[]];
  const { format, ...index } = head;
  if (format !== FORMAT) return `a newer version of Ordinate wrote it (format ${format}); use that version`;
  const isStrange = index.catalog.file !== catalogFile(index.id) || !files.every(({ file }) => FACT_FILE.test(file));
  return isStrange ? 'it names files that no backup has' : { ...index, files };
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The newest backup until a time. @param at an id, an ISO instant, a day (its end), or `latest`. Throws if there is none. */
export function chooseIndex(indexes: readonly BackupIndex[], at: string): BackupIndex {
  const shown = indexes.map(({ time }) => time);
  if (indexes.length === 0) throw new Error('It has no complete backup.');
  const exact = indexes.find(({ id }) => id === at);
  if (at === 'latest' || exact !== undefined) return exact ?? indexes.at(-1)!;
  const until = instantOf(at);
  const found = indexes.findLast(({ time }) => Date.parse(time) <= until);
  if (found !== undefined) return found;
  throw new Error(`It has no backup until ${at}; the oldest one is of ${shown[0]}. 'ordinate backup list' shows all.`);
}

function instantOf(text: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isDay || isInstant ? Date.parse(isDay ? `${text}T23:59:59.999Z` : text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new Error(
    `'${text}' is not a time. Use 'latest', a day such as 2026-03-22, an instant such as 2026-03-22T10:00:00Z, or an id of 'ordinate backup list'.`,
  );
}
