import type { StoredFile } from '../storage/file-store.ts';

export type EngineName = 'duckdb' | 'trino';

/**
 * A question about so many projects goes to Trino. It is not faster: it lists a folder for each (ARCHITECTURE.md, "Facts in
 * Trino"); but a node need not fetch all of their files.
 */
const MANY_PROJECTS = 2000;

interface EngineSettings {
  readonly engine: EngineName | 'auto';
  /** Bytes of files above which Trino answers. */
  readonly trinoAbove: number;
}

/** Decides which engine answers a question: by the files that the manifest names for it. */
export function chooseEngine({ engine, trinoAbove }: EngineSettings, files: readonly StoredFile[]): EngineName {
  if (engine !== 'auto') return engine;
  let bytes = 0;
  for (const file of files) bytes += file.bytes;
  if (bytes > trinoAbove) return 'trino';
  return files.length >= MANY_PROJECTS && projectsOf(files) >= MANY_PROJECTS ? 'trino' : 'duckdb';
}

function projectsOf(files: readonly StoredFile[]): number {
  return new Set(files.map(({ file }) => file.split('/')[2])).size;
}
