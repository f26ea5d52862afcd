import { type Static, Type } from 'typebox';
import { FACT_TABLES } from '../../catalog/manifest.ts';
import { documentJson } from '../../formats/json.ts';
import { findReportProject } from '../../reports/report.ts';
import { snapshotFile, snapshotReport } from '../../reports/snapshot.ts';
import { answerCached } from '../answer.ts';
import { day, fileResponses, nullable, object, oneOf, project, projectPath, responses } from '../schemas.ts';
import { sendFile } from '../send-file.ts';
import type { Route } from './route.ts';

const table = oneOf(FACT_TABLES, 'A fact table of the snapshot format.');
const part = Type.String({ description: 'A month (`2026-03`), or `all`. There is one file of each table and part.' });

const answer = object({
  project,
  revision: Type.Integer({ minimum: 0, description: 'Raised whenever facts of the project change.' }),
  since: nullable(
    Type.Integer({ minimum: 0 }),
    'The revision that was asked for. Null when `files` are all there are, and what a client has besides is obsolete.',
  ),
  files: Type.Array(
    object({
      table,
      part,
      rows: Type.Integer({ minimum: 0 }),
      firstDay: day,
      lastDay: day,
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      href: Type.String({ description: 'Where the file is, on this server.' }),
    }),
  ),
  removed: Type.Array(object({ table, part }), {
    description: 'Parts that have no file any more since then.',
  }),
});

export const snapshot: Route = {
  path: '/projects/:id/snapshot',
  report: snapshotReport,
  tag: 'Snapshot',
  summary: 'The files of the project’s facts',
  description:
    'Parquet files in the snapshot format, with sizes and hashes. A file never changes: newer facts come in a new one, which replaces the file of the same table and part. The project is not a column of it. Keyword files end where the plan’s history does; the month in which it begins is whole.',
  response: responses(answer, 'The files.', ['invalid_request', 'not_found'], { hasEtag: true }),
  handle: answerCached(snapshotReport, { json: documentJson<Static<typeof answer>> }),
};

export const snapshotFileRoute: Route = {
  path: '/projects/:id/snapshot/:file',
  params: Type.Object({ ...projectPath.properties, file: Type.String({ description: 'As `href` ends.' }) }),
  report: { operation: 'getSnapshotFile', parameters: {} },
  tag: 'Snapshot',
  summary: 'One of these files',
  description:
    'Takes `Range`, so that readers of Parquet fetch what they need of it. A file that was replaced is there for another hour.',
  response: fileResponses('application/vnd.apache.parquet', 'The file.'),
  handle: (context) => async (request, reply) => {
    const { id, file } = request.params as { id: string; file: string };
    const { workspace } = request.principal!;
    const found = await findReportProject(context, { workspace, id });
    return sendFile(request, reply, 'application/vnd.apache.parquet', await snapshotFile(context, found, file));
  },
};
