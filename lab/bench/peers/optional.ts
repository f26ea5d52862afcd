import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A package that is not a dependency, also from NODE_PATH; undefined if it is not installed. */
export function optionalPackage(name: string): unknown {
  try {
    return require(name) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
