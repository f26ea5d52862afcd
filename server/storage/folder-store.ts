import { constants } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { CheckedFiles, DamagedFile } from './checked-files.ts';
import { FactFolder } from './fact-folder.ts';
import type { FileStore, OpenFiles, Span, StoredFile } from './file-store.ts';
import { FolderMark } from './folder-mark.ts';

/** Files in the data folder. */
export class FolderStore implements FileStore {
  readonly folder: FactFolder;
  readonly mark: FolderMark;
  readonly #checked: CheckedFiles;

  constructor(dataFolder: string) {
    this.folder = new FactFolder(dataFolder);
    this.mark = new FolderMark(dataFolder);
    this.#checked = new CheckedFiles(this.folder);
  }

  async open(files: readonly StoredFile[]): Promise<OpenFiles> {
    const unknown = files.filter((stored) => !this.#checked.isKnown(stored));
    if (unknown.length > 0) await Promise.all(unknown.map((stored) => this.#check(stored)));
    return new StayingFiles(files.map(({ file }) => this.folder.path(file)));
  }

  read({ file }: StoredFile, span: Span): AsyncIterable<Buffer> {
    return this.folder.read(file, span);
  }

  async copy({ file }: StoredFile, target: string): Promise<void> {
    await copyFile(this.folder.path(file), target, constants.COPYFILE_FICLONE);
  }

  mayHave({ file, bytes }: StoredFile): boolean {
    return this.folder.sizeOf(file) === bytes;
  }

  async reach(file: string): Promise<void> {
    await (await open(this.folder.path(file))).close();
  }

  prepare(file: string): string {
    return this.folder.prepare(file);
  }

  async seal(file: string): Promise<StoredFile> {
    const sealed = await this.folder.seal(file);
    this.#checked.note(file);
    return sealed;
  }

  syncFolders(): Promise<void> {
    return this.folder.syncFolders();
  }

  remove(file: string): Promise<void> {
    return this.folder.remove(file);
  }

  damageOf(stored: StoredFile): Promise<string | undefined> {
    return this.folder.damageOf(stored);
  }

  addressOf(file: string): string {
    return this.folder.path(file);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #check(stored: StoredFile): Promise<void> {
    const damage = await this.#checked.damageOf(stored);
    if (damage !== undefined) throw new DamagedFile(this.addressOf(stored.file), stored.file, damage);
  }
}

/** Files that need not be held: replaced files stay for longer than any request takes. */
class StayingFiles implements OpenFiles {
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.paths = paths;
  }

  [Symbol.dispose](): void {}
}
