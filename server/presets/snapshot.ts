import { type Static, Type } from 'typebox';
import {
  filesOfProject,
  findFileOfProject,
  isOfKeywords,
  type ProjectFile,
  type ReadableFile,
} from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { notFound } from '../domain/errors.ts';
import { keywordHistoryFrom } from '../domain/project-ranges.ts';
import { FACT_TABLES, type FactTable } from '../model/tables.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { type Parameter, readParameters } from './parameters.ts';
import { type PresetSources, projectPreset, projectReference } from './preset.ts';
import { day, integer, nullable, object, openWords, project } from './schemas.ts';

const revision = Type.Integer({
  format: 'int64',
  minimum: 0,
  description: 'The `revision` of an earlier answer: returns only what changed since then.',
});
const since: Parameter<typeof revision, Static<typeof revision>> = {
  schema: revision,
  expected: 'the revision of an earlier answer, a whole number',
  decode: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
};
const parameters = { since };

const table = openWords(FACT_TABLES, 'A fact table of the snapshot format.');
const part = Type.String({
  description: 'A month (`2026-03`), a range (`2026-03-01_2026-03-28`), or `all`. Each table and part has one file.',
});

const file = object('SnapshotFile', {
  table,
  part,
  rows: integer({ minimum: 0 }),
  firstDay: day,
  lastDay: day,
  bytes: integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  href: Type.String({ description: 'The path of the file on this server.' }),
});

const answer = object('SnapshotAnswer', {
  project,
  revision: integer({ minimum: 0, description: 'Increases when facts of the project change.' }),
  since: nullable(
    integer({ minimum: 0 }),
    'The requested revision. Null if `files` is the complete list; then other files of a client are obsolete.',
  ),
  files: Type.Array(file),
  removed: Type.Array(object('SnapshotPart', { table, part }), {
    description: 'Parts that have no file any more.',
  }),
});

/** The files of a project's facts, or those that changed since a revision. */
export const snapshotPreset = projectPreset({
  path: '/projects/:id/snapshot',
  operation: 'getSnapshot',
  tag: 'Snapshot',
  summary: 'The files of all facts of a project',
  description:
    'Parquet files in the snapshot format, with sizes and hashes. A file never changes: new facts are in a new file, which replaces the file of the same table and part. The project id is not a column. Keyword files with a day before the keyword history of the plan are left out; `listKeywords` has the other days of that month.',
  answer,
  content: 'The files.',
  examples: { 200: '/projects/Proj1/snapshot', 400: '/projects/Proj1/snapshot?since=yesterday' },
  parameters,
  parse: (sent, project, now) => ({
    since: readParameters(parameters, sent).since ?? null,
    historyFrom: keywordHistoryFrom(project, now),
  }),
  plan: async ({ since: known, historyFrom }, { catalog, project }) => {
    const changes = await filesOfProject(catalog, project, known);
    // Before the first sync nothing counts as collected.
    const files = project.syncedThrough === null ? [] : changes.files;
    return {
      project: projectReference(project),
      revision: project.factsRevision,
      since: changes.since,
      files: files.filter((file) => isReadable(file.table, file, historyFrom)).map((file) => toEntry(project, file)),
      removed: [...changes.removed],
    };
  },
  run: (answer) => answer,
});

/** Files are sent unchanged: one that has a day of keywords before the plan's history is left out as a whole. */
function isReadable(table: FactTable, { firstDay }: { readonly firstDay: Day }, historyFrom: Day): boolean {
  return !isOfKeywords(table) || firstDay >= historyFrom;
}

function toEntry({ id }: Project, { table, part, rows, firstDay, lastDay, bytes, sha256, file }: ProjectFile) {
  const href = `/api/v1/projects/${id}/snapshot/${nameOf(table, file)}`;
  return { table, part, rows, firstDay, lastDay, bytes, sha256, href };
}

/** The name for clients of `facts/TABLE/PROJECT/PART-UUID.parquet`: `TABLE-PART-UUID.parquet`. */
function nameOf(table: FactTable, file: string): string {
  return `${table}-${file.slice(file.lastIndexOf('/') + 1)}`;
}

/** A file that is sent unchanged. */
export interface SentFile extends StoredFile {
  /** Bytes `start` to `end`, both included. */
  readonly read: (start: number, end: number) => AsyncIterable<Buffer>;
}

/**
 * A file of a project's snapshot, verified by its hash. Throws `not_found` if it is not a file of the project, or was
 * replaced so long ago that it has been removed.
 */
export async function snapshotFile(
  { catalog, files, now }: PresetSources,
  project: Project,
  name: string,
): Promise<SentFile> {
  const table = FACT_TABLES.find((candidate) => name.startsWith(`${candidate}-`));
  const found =
    table === undefined || project.syncedThrough === null
      ? undefined
      : await findFileOfProject(catalog, project.id, `facts/${table}/${project.id}/${name.slice(table.length + 1)}`);
  if (found === undefined || !isReadable(table!, found, keywordHistoryFrom(project, now()))) throw gone();
  await check(files, found);
  return { ...found, read: (start, end) => files.read(found, { start, end }) };
}

async function check(files: PresetSources['files'], file: ReadableFile): Promise<void> {
  try {
    using _open = await files.open([file]);
  } catch (error) {
    // It may have been removed just now.
    if (error instanceof DamagedFile && !file.isCurrent) throw gone();
    throw error;
  }
}

function gone() {
  return notFound('The project has no such file, or a newer one has replaced it; read the list of files again.');
}
