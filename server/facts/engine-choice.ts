import type { StoredFile } from '../storage/file-store.ts';

export type EngineName = 'duckdb' | 'trino';

/**
 * Queries about this many projects go to Trino. It is not faster, because it lists a folder for each
 * (docs/research/trino.md), but no node must fetch all of their files.
 */
const MANY_PROJECTS = 2000;

interface EngineSettings {
  readonly engine: EngineName | 'auto';
  /** Bytes of files above which Trino answers. */
  readonly trinoAbove: number;
}

/** Chooses the engine for a query by the files that it reads. */
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
