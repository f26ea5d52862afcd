import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Problem } from '../domain/problems.ts';
import { checkExport, EXPORT_FILES } from './export-manifest.ts';
import { TABLE_NAMES } from './tables.ts';

export type Format = 'parquet' | 'csv' | 'ndjson';

interface SnapshotFile {
  readonly path: string;
  /** The path relative to the snapshot, for messages. */
  readonly name: string;
  readonly format: Format;
  /** Changes when the file changes. */
  readonly state: string;
}

/** The files of one table. */
export interface TableFiles {
  readonly table: string;
  readonly files: readonly SnapshotFile[];
  /** The table's folder, which may contain Hive partitions such as `project_id=Aa1b2`; null for a single file. */
  readonly folder: string | null;
}

export interface SnapshotFiles {
  readonly tables: readonly TableFiles[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

const FORMATS: readonly (readonly [RegExp, Format])[] = [
  [/\.parquet$/, 'parquet'],
  [/\.csv(\.gz)?$/, 'csv'],
  [/\.(ndjson|jsonl)(\.gz)?$/, 'ndjson'],
];

/** Auxiliary files that table writers create: `_SUCCESS`, `.part.crc`, `_metadata`. */
const SIDE_FILE = /^[._]/;

/** Finds the tables of a snapshot folder: `TABLE.EXT`, or a folder `TABLE` with any files below it. */
export async function findSnapshotFiles(folder: string): Promise<SnapshotFiles> {
  const root = resolve(folder);
  const found = statSync(root, { throwIfNoEntry: false });
  if (!found?.isDirectory()) {
    const message = found
      ? `'${folder}' is not a folder; a snapshot must be a folder.`
      : `There is no folder '${folder}'.`;
    return { tables: [], problems: [{ table: null, column: null, message, rows: [] }], warnings: [] };
  }
  const byTable = new Map<string, TableFiles[]>();
  const { isExport, problems } = await checkExport(root);
  const warnings: string[] = [];
  for (const entry of (await readdir(root)).sort()) {
    if (SIDE_FILE.test(entry) || (isExport && EXPORT_FILES.includes(entry))) continue;
    const path = join(root, entry);
    const isFolder = statsOf(path)?.isDirectory() ?? false;
    const format = formatOf(entry);
    const table = isFolder ? entry : entry.replace(FORMATS.find(([, of]) => of === format)?.[0] ?? /$/, '');
    if (!TABLE_NAMES.includes(table) || (!isFolder && format === undefined)) {
      warnings.push(`'${entry}' is not a table of a snapshot and is ignored.`);
      continue;
    }
    const paths = isFolder ? await filesBelow(path) : [path];
    const known = paths.filter((file) => formatOf(file) !== undefined);
    for (const file of paths.filter((name) => formatOf(name) === undefined)) {
      warnings.push(`'${relative(root, file)}' is neither Parquet, CSV nor NDJSON and is ignored.`);
    }
    if (known.length === 0) {
      problems.push({ table, column: null, message: `the folder '${entry}' contains no data file.`, rows: [] });
      continue;
    }
    const unusable = known.flatMap((file) => {
      const reason = unusableFile(file);
      return reason === undefined
        ? []
        : [{ table, column: null, message: `'${relative(root, file)}' ${reason}`, rows: [] }];
    });
    problems.push(...unusable);
    if (unusable.length > 0) continue;
    const files = known.map((file) => ({
      path: file,
      name: relative(root, file),
      format: formatOf(file)!,
      state: stateOf(statsOf(file)),
    }));
    byTable.set(table, [...(byTable.get(table) ?? []), { table, files, folder: isFolder ? path : null }]);
  }
  for (const [table, sources] of byTable) {
    if (sources.length > 1) {
      const names = sources.map(({ files }) => `'${relative(root, files[0]!.path).split('/')[0]}'`).join(' and ');
      problems.push({ table, column: null, message: `is in both ${names}; keep one of them.`, rows: [] });
    }
  }
  if (byTable.size === 0 && problems.length === 0) {
    const message = `'${folder}' contains no table of a snapshot; tables are ${TABLE_NAMES.join(', ')}.`;
    problems.push({ table: null, column: null, message, rows: [] });
  }
  return { tables: [...byTable.values()].flat(), problems, warnings };
}

/** Files that changed since they were found. */
export function changedFiles(tables: readonly TableFiles[]): Problem[] {
  return tables.flatMap(({ table, files }) =>
    files
      .filter(({ path, state }) => stateOf(statsOf(path)) !== state)
      .map(({ path }) => ({
        table,
        column: null,
        message: `'${path}' changed while it was being read; load again when it is complete.`,
        rows: [],
      })),
  );
}

/** Why a path cannot be read as a file; undefined if it can. Reading a FIFO, for example, would block forever. */
export function unusableFile(path: string): string | undefined {
  const stats = statsOf(path);
  if (stats?.isFile()) return undefined;
  if (stats === undefined) {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
      ? 'is a link to a file that does not exist.'
      : 'no longer exists.';
  }
  const kind = stats.isDirectory()
    ? 'a folder'
    : stats.isFIFO()
      ? 'a named pipe (FIFO)'
      : stats.isSocket()
        ? 'a socket'
        : 'a device';
  return `is ${kind}, not a data file.`;
}

/** Undefined also for dangling and circular links. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function formatOf(name: string): Format | undefined {
  return FORMATS.find(([ending]) => ending.test(name))?.[1];
}

/** All files below a folder, sorted. A link to one of its parent folders is listed as a file. */
export async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  const collect = async (below: string, above: readonly string[]): Promise<void> => {
    const real = realpathSync(below);
    if (above.includes(real)) {
      files.push(below);
      return;
    }
    for (const name of await readdir(below)) {
      const path = join(below, name);
      if (statsOf(path)?.isDirectory()) await collect(path, [...above, real]);
      else if (!SIDE_FILE.test(name)) files.push(path);
    }
  };
  await collect(folder, []);
  return files.sort();
}

function stateOf(stats: Stats | undefined): string {
  return stats === undefined ? 'gone' : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}
