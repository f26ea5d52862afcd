import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBlocks } from '../../test/mutants/catalogue.ts';

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

/** Faults that were in the product, and others of the same kind across its modules: the blocks of plants.txt. */
export const PLANTS: readonly Plant[] = readBlocks(readFileSync(join(import.meta.dirname, 'plants.txt'), 'utf8')).map(
  ({ title, find, replace, behind, has }) => ({
    name: title,
    file: behind('file'),
    find,
    replace,
    world: behind('world'),
    isOfPostgres: has('postgres'),
    isRequired: has('required'),
  }),
);
