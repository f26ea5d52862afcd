import { type Static, Type } from 'typebox';
import { FILES_PER_REQUEST, REQUESTS_PER_MINUTE } from '../../domain/request-limits.ts';
import { documentJson } from '../../formats/json.ts';
import { FACT_TABLES } from '../../model/tables.ts';
import { findReportProject } from '../../presets/report.ts';
import { snapshotFile, snapshotReport } from '../../presets/snapshot.ts';
import { answerWith } from '../answer.ts';
import { fileResponses } from '../file-responses.ts';
import { responses } from '../responses.ts';
import { day, integer, nullable, object, openWords, project, projectPath } from '../schemas.ts';
import { sendFile } from '../send-file.ts';
import type { Route } from './route.ts';

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

export const snapshot: Route = {
  path: '/projects/:id/snapshot',
  report: snapshotReport,
  tag: 'Snapshot',
  summary: 'The files of all facts of a project',
  description:
    'Parquet files in the snapshot format, with sizes and hashes. A file never changes: new facts are in a new file, which replaces the file of the same table and part. The project id is not a column. Keyword files with a day before the keyword history of the plan are left out; `listKeywords` has the other days of that month.',
  response: responses(answer, 'The files.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/snapshot', 400: '/projects/Proj1/snapshot?since=yesterday' },
  handle: answerWith(snapshotReport, { json: documentJson<Static<typeof answer>> }),
};

export const snapshotFileRoute: Route = {
  path: '/projects/:id/snapshot/:file',
  params: Type.Object({ ...projectPath.properties, file: Type.String({ description: 'The last part of `href`.' }) }),
  report: { operation: 'getSnapshotFile', parameters: {} },
  tag: 'Snapshot',
  summary: 'A file of facts',
  description: `Supports \`Range\`, so that Parquet readers fetch only what they need. A replaced file is available for another hour. Requests for files have a rate limit of their own, which their headers show: ${REQUESTS_PER_MINUTE * FILES_PER_REQUEST} per minute with one key by default.`,
  sendsFiles: true,
  response: fileResponses('application/vnd.apache.parquet', 'The file.'),
  handle: (context) => async (request, reply) => {
    const { id, file } = request.params as { id: string; file: string };
    const { workspace } = request.principal!;
    const found = await findReportProject(context, { workspace, id });
    return sendFile(request, reply, 'application/vnd.apache.parquet', await snapshotFile(context, found, file));
  },
};
