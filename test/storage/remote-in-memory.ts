import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ListedObject, StoredFile } from '../../server/storage/file-store.ts';
import type { Content } from '../../server/storage/local-files.ts';
import { type RemoteFiles, StorageAway } from '../../server/storage/s3/remote-files.ts';

function contentOf(bytes: Buffer): Content {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** An object store in memory, with failures on demand. */
export class RemoteInMemory implements RemoteFiles {
  readonly files = new Map<string, Buffer>();
  /** The names of fetched files. */
  readonly fetched: string[] = [];
  isAway = false;
  /** Whether the credentials may not write. */
  isReadOnly = false;
  /** The code with which the next fetch fails, as a failure of the own disk. */
  diskError: string | undefined;
  /** What the next fetches give instead of the content. */
  readonly wrong: Buffer[] = [];

  add(file: string, text: string): StoredFile {
    const bytes = Buffer.from(text);
    this.files.set(file, bytes);
    return { file, ...contentOf(bytes) };
  }

  addressOf(file: string): string {
    return `s3://memory/${file}`;
  }

  async put({ file }: StoredFile, source: string): Promise<void> {
    await this.#answer(file);
    this.files.set(file, readFileSync(source));
  }

  async get({ file }: StoredFile, target: string): Promise<Content | undefined> {
    this.fetched.push(file);
    await this.#answer(file);
    const { diskError } = this;
    this.diskError = undefined;
    if (diskError !== undefined) throw Object.assign(new Error('write failed'), { code: diskError });
    const found = this.wrong.shift() ?? this.files.get(file);
    if (found === undefined) return undefined;
    writeFileSync(target, found);
    return contentOf(found);
  }

  async stat(file: string): Promise<Content | undefined> {
    await this.#answer(file);
    const found = this.files.get(file);
    return found && contentOf(found);
  }

  async readText(file: string): Promise<string | undefined> {
    await this.#answer(file);
    return this.files.get(file)?.toString();
  }

  async writeText(file: string, text: string, isNew: boolean): Promise<boolean> {
    await this.#answer(file);
    if (isNew && this.files.has(file)) return false;
    if (this.isReadOnly) throw new StorageAway(this.addressOf(file), 'it answers 403 AccessDenied', true);
    this.files.set(file, Buffer.from(text));
    return true;
  }

  async *list(): AsyncGenerator<readonly ListedObject[]> {
    await this.#answer('');
    yield [...this.files].map(([file, content]) => ({ file, bytes: content.length, tag: contentOf(content).sha256 }));
  }

  async remove(file: string): Promise<void> {
    await this.#answer(file);
    this.files.delete(file);
  }

  close(): void {}

  async #answer(file: string): Promise<void> {
    // Others go on meanwhile.
    await new Promise(setImmediate);
    if (this.isAway) throw new StorageAway(this.addressOf(file), 'it is away');
  }
}
