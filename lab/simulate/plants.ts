import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fault that is put into the code, to see whether the simulation finds it. */
export interface Plant {
  readonly name: string;
  readonly file: string;
  /** Text of the file, which must stand there. */
  readonly find: string;
  readonly replace: string;
  /** The world that can show it. */
  readonly world: string;
  /** Only where the catalog is in PostgreSQL. */
  readonly isOfPostgres: boolean;
  /** It was in the product, and must be found. */
  readonly isRequired: boolean;
}

const blocks = readFileSync(join(import.meta.dirname, 'plants.txt'), 'utf8')
  .trim()
  .split('\n\n')
  .map((block) => block.split('\n').filter((line) => !line.startsWith('#')));

/** Faults that were in the product, and others of the same kind across its modules: the blocks of plants.txt. */
export const PLANTS: readonly Plant[] = blocks
  .filter(({ length }) => length > 0)
  .map(([name = '', ...lines]) => {
    const behind = (mark: string): string =>
      lines
        .filter((line) => line.startsWith(`${mark} `))
        .map((line) => line.slice(mark.length + 1))
        .join('\n');
    return {
      name,
      file: behind('file'),
      find: behind('-'),
      replace: behind('+'),
      world: behind('world'),
      isOfPostgres: lines.includes('postgres'),
      isRequired: lines.includes('required'),
    };
  });
