import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../catalog/fact-files.ts';
import type { Day } from '../domain/dates.ts';
import type { Problem } from '../domain/problems.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { LocalFiles } from '../storage/local-files.ts';

/** The manifest of an exported snapshot. It is written last. */
export const EXPORT_MANIFEST = 'manifest.json';
/** Marks a folder whose export has not ended. */
export const UNFINISHED_EXPORT = 'manifest.json.partial';
export const EXPORT_FILES: readonly string[] = [EXPORT_MANIFEST, UNFINISHED_EXPORT];

/** A file of an exported snapshot. Its name is relative to the folder. */
export interface ExportedFile extends StoredFile {
  readonly table: string;
  readonly rows: number;
  /** Only for facts. */
  readonly project?: string;
  readonly part?: Part;
  readonly firstDay?: Day;
  readonly lastDay?: Day;
}

export interface ExportManifest {
  /** The version of this format. Other programs have files of this name, too. */
  readonly ordinateExport: 1;
  readonly exportedAt: string;
  readonly workspace: string;
  /** The revision of the facts of each project. */
  readonly projects: readonly { readonly id: string; readonly revision: number }[];
  /** The requested days; null for all. */
  readonly from: Day | null;
  readonly to: Day | null;
  readonly files: readonly ExportedFile[];
}

/**
 * Compares an exported folder with its manifest: a load of some of its files would delete the days of the others.
 * `isExport` is false for a folder that was not exported.
 */
export async function checkExport(folder: string): Promise<{ isExport: boolean; problems: Problem[] }> {
  if (existsSync(join(folder, UNFINISHED_EXPORT))) {
    return { isExport: true, problems: [problem(`the export into '${folder}' did not finish; export again.`)] };
  }
  const manifest = await readManifest(join(folder, EXPORT_MANIFEST));
  if (manifest === undefined) return { isExport: false, problems: [] };
  const files = new LocalFiles(folder);
  const problems: Problem[] = [];
  for (const file of manifest.files) {
    const damage = await files.damageOf(file);
    if (damage === undefined) continue;
    const message = `'${file.file}' is not the exported file: ${damage}. Copy the export again, or remove ${EXPORT_MANIFEST} to load the folder as it is.`;
    problems.push(problem(message, file.table));
  }
  return { isExport: true, problems };
}

/** Undefined if there is none, or one of another program. */
async function readManifest(path: string): Promise<ExportManifest | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    const manifest = JSON.parse(await readFile(path, 'utf8')) as Partial<ExportManifest>;
    return manifest.ordinateExport === 1 ? (manifest as ExportManifest) : undefined;
  } catch {
    return undefined;
  }
}

function problem(message: string, table: string | null = null): Problem {
  return { table, column: null, message, rows: [] };
}
