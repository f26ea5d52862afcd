// The process of one statement. Its memory, its time and its files are limited from outside (launch.ts).
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { patternOf } from '../runtime/patterns.ts';
import { checkStatement, RefusedStatement } from './check-statement.ts';
import { clientMessage } from './client-message.ts';
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

/** The text of a statement that may run; why another may not is told, and nothing has run. */
async function allowedText(connection: DuckDBConnection, statement: StatementMessage): Promise<string | undefined> {
  try {
    await parse(connection, statement.sql);
    const { text, tree } = await parseWhole(connection, statement);
    const named = checkStatement(tree, new Set(statement.tables.map(({ name }) => name)));
    await send({ needs: [...named] });
    return text;
  } catch (error) {
    if (!(error instanceof RefusedStatement)) throw error;
    await send({ refused: clientMessage(error.message, statement), isReady: true });
    return undefined;
  }
}

/**
 * The text that is checked and runs: with the limit, and without a semicolon at the end. Streaming instead of the limit
 * would hide errors after the first rows.
 */
async function parseWhole(
  connection: DuckDBConnection,
  { sql, limit }: StatementMessage,
): Promise<{ readonly text: string; readonly tree: unknown }> {
  for (const body of withoutEnd(sql)) {
    const text = `select * from (\n${body}\n) limit ${limit + 1}`;
    try {
      return { text, tree: await parse(connection, text) };
    } catch (error) {
      if (!(error instanceof RefusedStatement)) throw error;
    }
  }
  throw new RefusedStatement(ONE_SELECT);
}

/** Semicolons that are looked at, from the end: some may be in comments there. */
const MAX_ENDS = 20;

/** A statement, and what is left without its end: semicolons, spaces and comments. The first that parses is meant. */
function* withoutEnd(sql: string): Generator<string> {
  yield sql;
  let at = sql.length;
  for (let count = 0; count < MAX_ENDS; count++) {
    at = sql.lastIndexOf(';', at - 1);
    if (at <= 0) return;
    if (/^(?:;|\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/.test(sql.slice(at))) yield sql.slice(0, at);
  }
}

async function run(connection: DuckDBConnection, statement: StatementMessage, text: string): Promise<void> {
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
    const result = await connection.run(text, parameters as never);
    const { columns, rows, count, isCut } = rowsJson(result, statement.limit, MAX_BYTES);
    const bytes = rows.reduce((sum, part) => sum + part.length, 0);
    await send({ columns, truncated: isCut, rows: count, bytes }, rows);
  } catch (error) {
    throw new RefusedStatement(clientMessage((error as Error).message, statement));
  }
}

const ONE_SELECT = 'Exactly one SELECT statement can run.';

/** The syntax tree of one SELECT statement, by the parser of DuckDB, which runs nothing. */
async function parse(connection: DuckDBConnection, sql: string): Promise<unknown> {
  const result = await connection.runAndReadAll('select json_serialize_sql($1::varchar)', [sql]);
  type Tree = { error: boolean; error_type?: string; error_message?: string; statements?: unknown[] };
  const { error, error_type, error_message, statements = [] } = JSON.parse(String(result.getRows()[0]![0])) as Tree;
  if (error) throw new RefusedStatement(error_type === 'parser' ? error_message : ONE_SELECT);
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
  // Files have whole months.
  const condition = given.from === null ? '' : ` where "date" >= ${quoted(given.from)}::date`;
  await connection.run(`create view "${name}" as select ${selected} from ${source}${condition}`);
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
  let text = await allowedText(connection, statement);
  while (text === undefined) {
    statement = await receive<StatementMessage>();
    text = await allowedText(connection, statement);
  }
  await run(connection, statement, text);
} catch (error) {
  const refused =
    error instanceof RefusedStatement
      ? error.message
      : `The statement cannot run: ${clientMessage((error as Error).message.split('\n', 1)[0]!, { sql: '', folder: '' })}`;
  await send({ refused, isReady: false });
}
process.stdout.end(end);
