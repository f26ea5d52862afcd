import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** Milliseconds that a process waits for another one. */
const TIMEOUT = 5000;
const SCHEMA = `
  create table if not exists files (name text primary key, bytes integer not null, used_at integer not null) strict;
  create index if not exists files_by_use on files (used_at, name);
  create table if not exists total (id integer primary key check (id = 1), bytes integer not null, listed_at integer not null) strict;
  insert or ignore into total values (1, 0, 0);
  create trigger if not exists file_added after insert on files begin update total set bytes = bytes + new.bytes; end;
  create trigger if not exists file_removed after delete on files begin update total set bytes = bytes - old.bytes; end;
`;

/**
 * The files of a cache with their sizes and last uses, shared by all processes of a machine. Losing it is harmless: the
 * files can be listed.
 */
export class CacheIndex {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #file: number | undefined;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string) {
    this.#db = openDatabase(path);
    this.#path = path;
    this.#file = fileAt(path);
  }

  /** Opens the index, and begins with an empty one if it is damaged. */
  static open(path: string): CacheIndex {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return new CacheIndex(path);
    } catch (error) {
      if (!isDamage(error)) throw error;
      for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
      return new CacheIndex(path);
    }
  }

  /** Whether its file was removed or replaced. Takes some microseconds. */
  get isLost(): boolean {
    return fileAt(this.#path) !== this.#file;
  }

  /** Bytes of all files. */
  get bytes(): number {
    return (this.#statement('select bytes from total').get() as { bytes: number }).bytes;
  }

  /** When the files of the cache were last listed, in milliseconds; 0 for never. */
  get listedAt(): number {
    return (this.#statement('select listed_at from total').get() as { listed_at: number }).listed_at;
  }

  set listedAt(now: number) {
    this.#statement('update total set listed_at = ?').run(now);
  }

  has(name: string): boolean {
    return this.#statement('select 1 from files where name = ?').get(name) !== undefined;
  }

  /**
   * Adds a file, and removes those used longest ago until all take at most `max` bytes; this one too if it is larger.
   * @param remove called for each removed file, and `link` for the new one if it stays, before other processes see either
   */
  add(
    { name, bytes }: { readonly name: string; readonly bytes: number },
    { max, now, link, remove }: { max: number; now: number; link: () => void; remove: (name: string) => void },
  ): void {
    this.#alone(() => {
      this.#statement('delete from files where name = ?').run(name);
      if (bytes > max) return remove(name);
      this.#shrink(max - bytes, remove);
      this.#statement('insert into files values (?, ?, ?)').run(name, bytes, now);
      link();
    });
  }

  /** Removes the files used longest ago, until the others take at most `max` bytes. */
  shrink(max: number, remove: (name: string) => void): void {
    this.#alone(() => this.#shrink(max, remove));
  }

  remove(name: string, remove: (name: string) => void): void {
    this.#alone(() => {
      this.#statement('delete from files where name = ?').run(name);
      remove(name);
    });
  }

  use(name: string, now: number): void {
    this.#statement('update files set used_at = ? where name = ?').run(now, name);
  }

  close(): void {
    this.#db.close();
  }

  #shrink(max: number, remove: (name: string) => void): void {
    while (this.bytes > max) {
      const oldest = this.#statement('select name from files order by used_at, name limit 1').get();
      if (oldest === undefined) return;
      const name = oldest['name'] as string;
      this.#statement('delete from files where name = ?').run(name);
      remove(name);
    }
  }

  #alone(work: () => void): void {
    this.#db.exec('begin immediate');
    try {
      work();
      this.#db.exec('commit');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback');
      throw error;
    }
  }

  #statement(text: string): StatementSync {
    const known = this.#statements.get(text) ?? this.#db.prepare(text);
    this.#statements.set(text, known);
    return known;
  }
}

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: TIMEOUT });
  try {
    db.exec('pragma journal_mode = wal; pragma synchronous = off;');
    db.exec(SCHEMA);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The number of the file at a path; undefined if there is none. */
function fileAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** `SQLITE_CORRUPT` and `SQLITE_NOTADB`. */
function isDamage(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && [11, 26].includes(errcode & 0xff);
}
