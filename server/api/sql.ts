import { Type } from 'typebox';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import { JSON_TYPE } from '../domain/formats.ts';
import { findReadableProject, projectReference } from '../presets/preset.ts';
import { object, project } from '../presets/schemas.ts';
import { measure, type StatementOutcome, secondsSince } from '../runtime/measurements.ts';
import { contentOfProject, SANDBOX_TABLES } from '../sandbox/project-content.ts';
import { type SandboxAnswer, StoppedStatement } from '../sandbox/sandbox.ts';
import { responses } from './responses.ts';
import type { Route } from './route.ts';

const MAX_ROWS = 50_000;
const MAX_SQL = 100_000;

const body = Type.Object(
  {
    sql: Type.String({ description: `One SELECT statement of at most ${MAX_SQL} characters, in the SQL of DuckDB.` }),
    parameters: Type.Optional(
      Type.Unknown({
        description:
          'A list of values for `?` or `$1`, or an object of values for `$name`: texts, numbers, booleans and nulls.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ format: 'int64', minimum: 1, maximum: MAX_ROWS, default: MAX_ROWS, description: 'Max rows.' }),
    ),
  },
  { title: 'SqlStatement', additionalProperties: false },
);

const answer = object('SqlAnswer', {
  project,
  columns: Type.Array(
    object('SqlColumn', { name: Type.String(), type: Type.String({ description: 'The type in DuckDB.' }) }),
  ),
  truncated: Type.Boolean({ description: 'Whether the statement has more rows.' }),
  rows: Type.Array(Type.Unknown(), { description: 'Objects with the names of the columns.' }),
});

export const sql: Route = {
  path: '/projects/:id/sql',
  operation: 'getSql',
  parameters: {},
  body,
  onlyBody: true,
  tag: 'Questions',
  summary: 'A SELECT statement',
  description:
    'Runs one SELECT statement over the tables of the snapshot, with the rows of this project, and the macros `ctr(clicks, impressions)` and `position(sum_position, impressions)`. Only where the operator has set `ORDINATE_SQL=on`, with a key of scope `sql`. A statement is stopped after 10 seconds; two of a workspace run at a time.',
  response: responses(answer, 'The rows.', ['invalid_request', 'not_found']),
  handle: (context) => async (request, reply) => {
    const { workspace, mayUseSql } = request.principal!;
    const { id } = request.params as { id: string };
    const found = await findReadableProject(context, { workspace, id });
    const { sandbox } = context;
    if (sandbox === undefined) throw notFound('This server runs no SQL; its operator can set ORDINATE_SQL to on.');
    if (!mayUseSql)
      throw new KnownError('scope_required', 'This key may not use SQL; create one with `keys create --scope sql`.');
    const started = performance.now();
    let outcome: StatementOutcome = 'failed';
    let made: SandboxAnswer | undefined;
    try {
      const statement = readStatement((request.query as { q: string }).q);
      const about = { project: found.id, tables: SANDBOX_TABLES, open: contentOfProject(context, found) };
      made = await sandbox.run({ ...statement, ...about, workspace, signal: request.signal });
      outcome = made.truncated ? 'truncated' : 'complete';
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      const seconds = secondsSince(started);
      const line = { id: request.id, project: found.id, outcome, rows: made?.count, ms: Math.round(seconds * 1000) };
      request.log.info(line, 'statement');
      measure('statement', () => ({ outcome, seconds }));
    }
    const { columns, truncated, rows } = made;
    const head = JSON.stringify({ project: projectReference(found), columns, truncated });
    return reply.sendStream(undefined, async () => ({
      headers: { 'content-type': JSON_TYPE },
      body: document(head, rows),
    }));
  },
};

function outcomeOf(error: unknown): StatementOutcome {
  if (error instanceof StoppedStatement) return 'stopped';
  if (!(error instanceof KnownError)) return 'failed';
  return error.code === 'invalid_request' ? 'refused' : 'busy';
}

async function* document(head: string, rows: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  yield Buffer.from(`${head.slice(0, -1)},"rows":`);
  yield* rows;
  yield Buffer.from('}');
}

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

function readStatement(text: string): { sql: string; parameters: Scalar[] | Record<string, Scalar>; limit: number } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest(
      'The body must be a JSON object such as {"sql": "select sum(clicks) as clicks from site_daily"}.',
    );
  }
  const { sql: statement, parameters = [], limit = MAX_ROWS, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalidRequest(`'${unknown}' is not a part of a statement; those are sql, parameters and limit.`);
  if (typeof statement !== 'string' || statement.trim() === '' || statement.length > MAX_SQL) {
    throw invalidRequest(`sql must be a SELECT statement of at most ${MAX_SQL} characters.`);
  }
  if (typeof parameters !== 'object' || parameters === null || !Object.values(parameters).every(isScalar)) {
    throw invalidRequest('parameters must be a list or an object of texts, numbers, booleans and nulls.');
  }
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > MAX_ROWS) {
    throw invalidRequest(`limit must be a whole number from 1 to ${MAX_ROWS}.`);
  }
  return { sql: statement, parameters: parameters as Scalar[], limit: limit as number };
}
