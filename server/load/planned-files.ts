import { appendFileSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const NAME = 'planned-files';

/**
 * The names of the fact files that a load is about to write, from which the files of a killed load are found without
 * listing all files.
 */
export class PlannedFiles {
  readonly #path: string;

  /** @param staging the folder of the current load, removed after it */
  constructor(staging: string) {
    mkdirSync(staging, { recursive: true, mode: 0o700 });
    this.#path = join(staging, NAME);
  }

  add(file: string): void {
    appendFileSync(this.#path, `${file}\n`, { mode: 0o600 });
  }

  /** The planned files of the last load; none if it was cleaned up. */
  static async read(staging: string): Promise<string[]> {
    const text = await readFile(join(staging, NAME), 'utf8').catch(() => '');
    // The last line may be incomplete.
    return text.split('\n').filter((file) => /^facts\/\w+\/[^/]+\/[^/]+\.parquet$/.test(file));
  }
}
