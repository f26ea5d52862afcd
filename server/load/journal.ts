import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, stat, writeFile } from 'node:fs/promises';
import type { Catalog, Values } from '../catalog/catalog.ts';
import {
  type LoadedTable,
  lastPublication,
  type ManifestRow,
  nextPublication,
  type Publication,
} from '../catalog/fact-files.ts';
import type { KeywordGap } from '../catalog/keywords.ts';
import type { CatalogLocation } from '../catalog/location.ts';
import { keepCopy, listCopies } from '../catalog/store.ts';
import type { BulkExportDays } from '../catalog/sync-days.ts';
import { LocalFiles } from '../storage/local-files.ts';
import type { EntityTable } from './tables.ts';

/** A line of a record. Rows have the format of the catalog. */
export type JournalLine =
  | { readonly upsert: EntityTable['name']; readonly row: Values }
  | { readonly remove: EntityTable['name']; readonly row: Values }
  | { readonly loaded: LoadedTable }
  | { readonly bulkExport: BulkExportDays }
  | { readonly unknown: KeywordGap }
  | { readonly file: ManifestRow }
  | { readonly gone: Pick<ManifestRow, 'project' | 'table' | 'part'> };

/** A record that is being written. */
export interface JournalRecord extends AsyncDisposable {
  add(line: JournalLine): Promise<void>;
  /** Makes the record durable. */
  seal(): Promise<void>;
}

/** Where publications are recorded. */
export interface Publications {
  /** Starts the record of a publication, in its transaction. */
  begin(tx: Catalog): Promise<JournalRecord>;
  /** Resolves the record of an interrupted publication. */
  settle(catalog: Catalog): Promise<void>;
  /** Lets `compact` copy the catalog, now or after the next change: the record lacks a part of this one. */
  requireCopy(): Promise<void>;
  /** Keeps the records few: a copy of the catalog takes their place. */
  compact(): Promise<void>;
}

/** For a catalog with its own backups: publications are not recorded. */
const UNRECORDED: Publications = {
  begin: async () => ({ add: async () => {}, seal: async () => {}, [Symbol.asyncDispose]: async () => {} }),
  settle: async () => {},
  requireCopy: async () => {},
  compact: async () => {},
};

/** The journal of a catalog in a file; PostgreSQL has its own log and backups. */
export function openJournal({ dataFolder, catalogUrl }: CatalogLocation): Publications {
  return catalogUrl === '' ? new Journal(dataFolder) : UNRECORDED;
}

/** The file of a record. `number` is the publication. */
interface RecordFile {
  readonly name: string;
  readonly number: number;
  readonly id: string;
  readonly kind: 'pending' | 'change' | 'checkpoint';
}

/** A readable record of the journal. */
export interface StoredRecord {
  readonly publication: Publication;
  /** The load was interrupted around its commit; only the catalog shows whether it was committed. */
  readonly isPending: boolean;
  readonly lines: () => AsyncGenerator<JournalLine>;
}

const FOLDER = 'facts/journal';
/** There until a copy of the catalog has what records lack. */
const WANTED = `${FOLDER}/copy.wanted`;
/** Earlier versions wrote checkpoints of the whole catalog, which copies replace. */
const NAME = /^(\d{12})-([0-9a-f-]{36})\.(pending|change|checkpoint)\.ndjson$/;
/** The last line of a complete record, with the SHA-256 of all previous lines. */
const END = /^\{"end":"([0-9a-f]{64})"\}\n$/;
const END_BYTES = '{"end":""}\n'.length + 64;
/** Characters that are buffered before a write. */
const CHUNK = 1_000_000;
/** Bytes of changes that a rebuild reads at most, as long as a load makes a copy itself. */
const FEW_BYTES = 4_000_000;

/**
 * The journal of publications, stored with the facts. A lost catalog is its last copy with the records after it. A record is
 * durable before the load's commit (`pending`) and is renamed after it (`change`); it goes when all copies have it. Written
 * only while holding the load lock.
 */
export class Journal implements Publications {
  readonly #dataFolder: string;
  readonly #store: LocalFiles;

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
    this.#store = new LocalFiles(dataFolder);
  }

  async begin(tx: Catalog): Promise<JournalRecord> {
    return WrittenRecord.create(this.#store, nameOf(await nextPublication(tx), 'pending'));
  }

  /**
   * Resolves a pending record: it becomes a change if the catalog contains its publication, else it is removed. Throws if
   * the journal has publications that the catalog lacks: the catalog is older than the facts.
   */
  async settle(catalog: Catalog): Promise<void> {
    const held = await lastPublication(catalog);
    for (const file of await this.#files()) {
      if (file.kind === 'pending') {
        if (file.id === held.id) await this.#store.rename(pathOf(file.name), pathOf(nameOf(file, 'change')));
        else await this.#store.remove(pathOf(file.name));
      } else if (file.number > held.number || (file.number === held.number && file.id !== held.id)) {
        throw new Error(
          `The catalog is older than the facts: '${this.#store.path(FOLDER)}' has publication ${file.number}, the catalog ends with ${held.number}. It may have been restored from a backup. Run 'ordinate rebuild' to bring it up to date; nothing was changed.`,
        );
      }
    }
  }

  async requireCopy(): Promise<void> {
    await writeFile(this.#store.prepare(WANTED), '', { mode: 0o600 });
  }

  /**
   * Copies the catalog if there is no copy, if records lack a part of it, or if they are long; removes records that all
   * copies have.
   */
  async compact(): Promise<void> {
    const [newest] = listCopies(this.#dataFolder);
    const files = (await this.#files()).filter(
      ({ kind, number }) => kind === 'change' && number > (newest?.number ?? 0),
    );
    const sizes = await Promise.all(files.map(({ name }) => stat(this.#store.path(pathOf(name)))));
    if (
      newest === undefined ||
      existsSync(this.#store.path(WANTED)) ||
      sizes.reduce((sum, { size }) => sum + size, 0) > FEW_BYTES
    ) {
      await keepCopy(this.#dataFolder);
      await this.#store.remove(WANTED);
    }
    const oldest = listCopies(this.#dataFolder).at(-1)?.number ?? 0;
    for (const { name, number, kind } of await this.#files()) {
      if (kind !== 'pending' && number <= oldest) await this.#store.remove(pathOf(name));
    }
  }

  /** Lets the journal begin with this state of the catalog, which changed without records. */
  async beginAnew(): Promise<void> {
    await keepCopy(this.#dataFolder, { alone: true });
    await this.compact();
  }

  /**
   * The records after a publication, oldest first, including complete pending records, which are durable. Throws if records
   * are missing.
   */
  async records(after: number): Promise<StoredRecord[]> {
    const files = (await this.#files()).filter(({ number, kind }) => number > after && kind !== 'checkpoint');
    const chain: RecordFile[] = [];
    const next = (): number => after + chain.length + 1;
    for (const file of files) if (file.kind === 'change' && file.number === next()) chain.push(file);
    const newest = files.findLast(({ kind }) => kind === 'change')?.number ?? after;
    if (next() !== newest + 1) {
      throw new Error(
        `'${this.#store.path(FOLDER)}' lacks records before publication ${newest}, so the catalog cannot be rebuilt from it. Restore the catalog or the whole data folder from a backup.`,
      );
    }
    const pending = files.filter(({ kind, number }) => kind === 'pending' && number === next());
    for (const file of pending) if ((await this.#endOf(file)) !== undefined) chain.push(file);
    return chain.map((file) => ({
      publication: file,
      isPending: file.kind === 'pending',
      lines: () => this.#lines(file),
    }));
  }

  /** Yields the lines of a record. Throws, after the last line at the latest, if the record is damaged. */
  async *#lines(file: RecordFile): AsyncGenerator<JournalLine> {
    const path = this.#store.path(pathOf(file.name));
    const damaged = new Error(`The record '${path}' is cut off or damaged. Restore it from a backup.`);
    const sha256 = await this.#endOf(file);
    if (sha256 === undefined) throw damaged;
    const hash = createHash('sha256');
    await using handle = await open(path);
    for await (const line of handle.readLines({ autoClose: false })) {
      if (line.startsWith('{"end":')) break;
      hash.update(`${line}\n`);
      let parsed: JournalLine;
      try {
        parsed = JSON.parse(line) as JournalLine;
      } catch {
        throw damaged;
      }
      yield parsed;
    }
    if (hash.digest('hex') !== sha256) throw damaged;
  }

  /** The SHA-256 at the end of a record; undefined for an incomplete record. */
  async #endOf({ name }: RecordFile): Promise<string | undefined> {
    await using handle = await open(this.#store.path(pathOf(name)));
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(END_BYTES), 0, END_BYTES, Math.max(0, size - END_BYTES));
    return END.exec(buffer.toString())?.[1];
  }

  async #files(): Promise<RecordFile[]> {
    const names = await this.#store.names(FOLDER);
    return names.flatMap((name) => {
      const [, number, id, kind] = NAME.exec(name) ?? [];
      return kind === undefined ? [] : [{ name, number: Number(number), id: id!, kind: kind as RecordFile['kind'] }];
    });
  }
}

class WrittenRecord implements JournalRecord {
  readonly #store: LocalFiles;
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #text = '';

  private constructor(store: LocalFiles, file: string, handle: FileHandle) {
    this.#store = store;
    this.#file = file;
    this.#handle = handle;
  }

  static async create(store: LocalFiles, name: string): Promise<WrittenRecord> {
    const file = pathOf(name);
    return new WrittenRecord(store, file, await open(store.prepare(file), 'w', 0o600));
  }

  async add(line: JournalLine): Promise<void> {
    // Line readers treat these two characters as line endings.
    const text = JSON.stringify(line).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
    this.#text += `${text}\n`;
    if (this.#text.length > CHUNK) await this.#flush();
  }

  async seal(): Promise<void> {
    await this.#flush();
    await this.#handle.writeFile(`{"end":"${this.#hash.digest('hex')}"}\n`);
    await this.#handle.close();
    await this.#store.seal(this.#file);
    await this.#store.syncFolders();
  }

  /** Closes the file. A record without `seal` is incomplete and is removed later. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#handle.fd !== -1) await this.#handle.close();
  }

  async #flush(): Promise<void> {
    this.#hash.update(this.#text);
    await this.#handle.writeFile(this.#text);
    this.#text = '';
  }
}

function nameOf({ number, id }: Publication, kind: RecordFile['kind']): string {
  return `${String(number).padStart(12, '0')}-${id}.${kind}.ndjson`;
}

function pathOf(name: string): string {
  return `${FOLDER}/${name}`;
}
