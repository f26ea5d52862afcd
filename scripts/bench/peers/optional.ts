import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A package that is no dependency. Undefined where it is not installed (also looked for in NODE_PATH). */
export function optionalPackage(name: string): unknown {
  try {
    return require(name) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
