// The process of one statement. Its memory, its time and its files are limited from outside (launch.ts).
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { patternOf } from '../runtime/patterns.ts';
import { checkStatement, RefusedStatement } from './check-statement.ts';
import type { ContentMessage, SandboxTable, StatementMessage } from './messages.ts';
import { rowsJson } from './rows-json.ts';

/** Bytes of the longest answer. */
const MAX_BYTES = 32_000_000;
/** Of DuckDB; what it does not count is limited with the process. */
const MEMORY = '256MB';
/** Milliseconds after which a statement runs with the time that nobody else needs. */
const SHORT = 1000;
const SELECT = 1;

const lines = createInterface({ input: process.stdin });
const received = lines[Symbol.asyncIterator]();
// The server has ended or the client has left: nobody needs the answer, and DuckDB may ignore an interrupt.
lines.once('close', end);

function end(): void {
  process.kill(process.pid, 'SIGKILL');
  // The first process of a namespace cannot kill itself.
  process.exit();
}

function lowerPriority(): void {
  // Threads have a priority each, and may end meanwhile.
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_LOW);
    } catch {}
  }
}

async function receive<Message>(): Promise<Message> {
  return JSON.parse((await received.next()).value as string) as Message;
}

async function send(message: object, rows?: readonly Buffer[]): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(message)}\n`)) await once(process.stdout, 'drain');
  for (const part of rows ?? []) if (!process.stdout.write(part)) await once(process.stdout, 'drain');
}

/** Whether a statement may run; what it may not is told, and nothing has run. */
async function isAllowed(connection: DuckDBConnection, statement: StatementMessage): Promise<boolean> {
  try {
    await parse(connection, statement.sql);
    const tree = await parse(connection, wholeText(statement), 'End the statement without a semicolon.');
    const named = checkStatement(tree, new Set(statement.tables.map(({ name }) => name)));
    await send({ needs: [...named] });
    return true;
  } catch (error) {
    if (!(error instanceof RefusedStatement)) throw error;
    await send({ refused: error.message, isReady: true });
    return false;
  }
}

/** The text that runs is the text that is checked. Streaming instead of the limit would hide errors after the first rows. */
function wholeText({ sql, limit }: StatementMessage): string {
  return `select * from (\n${sql}\n) limit ${limit + 1}`;
}

async function run(connection: DuckDBConnection, statement: StatementMessage): Promise<void> {
  setTimeout(lowerPriority, SHORT).unref();
  const content = await receive<ContentMessage>();
  const pathsOf = (name: string): string[] => {
    const table = content[name]!;
    return 'files' in table ? table.files.map((file) => join(statement.folder, file)) : [];
  };
  try {
    await connection.run("set global TimeZone = 'UTC'");
    await connection.run(`set allowed_paths = [${Object.keys(content).flatMap(pathsOf).map(quoted).join(', ')}]`);
    await connection.run('set enable_external_access = false');
    for (const table of statement.tables)
      if (table.name in content)
        await create(connection, table, statement.project, content[table.name]!, pathsOf(table.name));
    await connection.run('create macro ctr(clicks, impressions) as clicks / nullif(impressions, 0)');
    // `position` is a word of the grammar.
    const position = '(sum_position, impressions) as sum_position / nullif(impressions, 0) + 1';
    for (const name of ['avg_position', '"position"']) await connection.run(`create macro ${name}${position}`);
    await connection.run('set lock_configuration = true');
    const { parameters } = statement;
    // Its errors have the lines of the client's text.
    const prepared = await connection.prepare(statement.sql);
    if ((prepared.statementType as number) !== SELECT) throw new RefusedStatement(ONE_SELECT);
    const result = await connection.run(wholeText(statement), parameters as never);
    const { columns, rows, count, isCut } = rowsJson(result, statement.limit, MAX_BYTES);
    const bytes = rows.reduce((sum, part) => sum + part.length, 0);
    await send({ columns, truncated: isCut, rows: count, bytes }, rows);
  } catch (error) {
    throw new RefusedStatement((error as Error).message.replaceAll(`${statement.folder}/`, ''));
  }
}

const ONE_SELECT = 'Exactly one SELECT statement can run.';

/** The syntax tree of one SELECT statement, by the parser of DuckDB, which runs nothing. */
async function parse(connection: DuckDBConnection, sql: string, hint?: string): Promise<unknown> {
  const result = await connection.runAndReadAll('select json_serialize_sql($1::varchar)', [sql]);
  type Tree = { error: boolean; error_type?: string; error_message?: string; statements?: unknown[] };
  const { error, error_type, error_message, statements = [] } = JSON.parse(String(result.getRows()[0]![0])) as Tree;
  if (error) throw new RefusedStatement(hint ?? (error_type === 'parser' ? error_message : ONE_SELECT));
  if (statements.length !== 1) throw new RefusedStatement(ONE_SELECT);
  return statements[0];
}

async function create(
  connection: DuckDBConnection,
  table: SandboxTable,
  project: string,
  given: ContentMessage[string],
  paths: readonly string[],
): Promise<void> {
  const { name, columns } = table;
  const selected = columns
    .map((column) => `${column.name === 'project_id' ? quoted(project) : column.read} as "${column.name}"`)
    .join(', ');
  if ('rows' in given) {
    const schema = JSON.stringify([Object.fromEntries(columns.map((column) => [column.name, column.stored]))]);
    await connection.run(
      `create table "${name}" as select ${selected} from (select unnest(from_json($1::json, ${quoted(schema)}), recursive := true))`,
      [JSON.stringify(given.rows)],
    );
    return;
  }
  const stored = columns.map((column) => `null::${column.stored} as "${column.name}"`).join(', ');
  const source =
    paths.length === 0
      ? `(select ${stored} limit 0)`
      : `read_parquet([${paths.map((path) => quoted(patternOf(path))).join(', ')}])`;
  await connection.run(`create view "${name}" as select ${selected} from ${source}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

try {
  const database = await DuckDBInstance.create(':memory:', {
    memory_limit: MEMORY,
    threads: '1',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    temp_directory: '',
  });
  const connection = await database.connect();
  // The first statement would wait for it.
  await parse(connection, 'select 1');
  let statement = await receive<StatementMessage>();
  while (!(await isAllowed(connection, statement))) statement = await receive<StatementMessage>();
  await run(connection, statement);
} catch (error) {
  const refused =
    error instanceof RefusedStatement
      ? error.message
      : `The statement cannot run: ${(error as Error).message.split('\n', 1)[0]}`;
  await send({ refused, isReady: false });
}
process.stdout.end(end);
