// Asks a server, and compares what it answers with what the model expects.
import { isDeepStrictEqual } from 'node:util';
import { numberText, parseCsv, parseNdjson, readArrow, readParquet } from '../formats/read.ts';
import type { Row, World } from '../world.ts';
import { flatRows } from './flat-rows.ts';
import type { Expected } from './oracle-terms.ts';

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly statusCode: number;
  readonly body: string;
  readonly rawPayload: Buffer;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** An answer of the API. */
export async function asked(app: World['app'], url: string, headers: Headers): Promise<Answer> {
  return app.inject({ url: `/api/v1${url}`, headers });
}

/** An answer of a tool. */
export async function called(
  app: World['app'],
  name: string,
  sent: object,
  headers: Headers,
): Promise<{ status: number; code?: string; body?: unknown }> {
  const { body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: sent } },
  });
  const { result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as {
    result: { isError?: boolean; content: { text: string }[] };
  };
  const answer = JSON.parse(result.content[0]!.text) as { code?: string; error?: { code: string } };
  return result.isError === true
    ? { status: 0, code: answer.code ?? answer.error?.code ?? '' }
    : { status: 200, body: answer };
}

/** What the contract does not decide: words, the time of a fetch, and what is known of ranking updates. */
export function decided(answer: unknown): unknown {
  const open = new Set(['title', 'source', 'announcedOn', 'rankingUpdates', 'rankingUpdatesThrough']);
  return JSON.parse(JSON.stringify(answer), function (this: Row, name: string, value: unknown) {
    if (name === 'fetchedAt') return 'then';
    if (name === 'message') return '';
    const isOpen = open.has(name) && ('affects' in this || 'daysExpected' in this);
    return isOpen ? undefined : value;
  });
}

type IsNear = (found: number, expected: number, path: string) => boolean | undefined;

/** The last digit of numbers that are added up in another order. */
const LAST_DIGIT: Readonly<Record<string, number>> = { expected: 0.0101, difference: 0.0101 };

const ids = (notes: unknown): unknown[] =>
  (notes as (string | Row)[]).map((note) => (typeof note === 'string' ? note : note['id']));

const without = (row: Row, names: RegExp): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.test(name)));

/** Answers with sentences, or with statistics: what of them the contract decides, and how nearly. */
const WORDED: Readonly<Record<string, { decide: (body: Row) => unknown; isNear?: IsNear }>> = {
  explain: {
    decide: (body) => {
      const { from, to, country, comparison } = body['range'] as Row;
      const rest = without(body, /^(source|unsafe|events|rankingUpdates.*)$/);
      return { ...rest, range: { from, to, country, comparison }, notes: ids(body['notes']) };
    },
  },
  effects: {
    decide: (body) => ({ ...without(body, /^(text|events|rankingUpdatesThrough)$/), notes: ids(body['notes']) }),
    isNear: (is, right, path) => {
      // Whole numbers are counts, and equal.
      if (Number.isSafeInteger(right)) return undefined;
      const near = LAST_DIGIT[path.split('.').at(-1)!] ?? 1.01e-4;
      return Math.abs(is - right) <= near + 1e-8 * Math.abs(right);
    },
  },
  findings: {
    decide: (body) => ({
      ...without(body, /^quality$/),
      findings: (body['findings'] as Row[]).map((one) => without(one, /^text$/)),
    }),
    // Tests differ by other ways to add up.
    isNear: (is, right, path) =>
      /\.(p|adjusted)$/.test(path) ? Math.abs(is - right) <= 2e-5 * Math.max(is, right) : undefined,
  },
  query: {
    decide: (body) => ({
      ...without(body, /^range$/),
      rows: (body['rows'] as Row[]).map(differencesOf),
      totals: body['totals'] && differencesOf(body['totals'] as Row),
    }),
  },
};

/** A row of a question with its differences alone: reasons and ratios are those of other answers. */
function differencesOf(whole: Row): Row {
  const { change, ...row } = without(whole, /^unsafe$/);
  if (change === undefined) return row;
  if (change === null) return { ...row, difference: null };
  const differences = Object.entries(change as Record<string, { difference: number | null }>);
  return { ...row, difference: Object.fromEntries(differences.map(([name, { difference: of }]) => [name, of])) };
}

const endpointOf = (path: string): string =>
  path.split('?')[0]!.split('/')[path.startsWith('/projects/') ? 3 : 1] ?? '';

/** What differs between an answer and the expected one; undefined if nothing does. `path` names the format, if not JSON. */
export async function differenceOf(path: string, expected: Expected, sent: Answer): Promise<unknown> {
  const format = new URLSearchParams(path.split('?')[1]).get('format');
  if (format !== null && 'body' in expected) return flatDifference(format, path, expected.body as object, sent);
  const { decide, isNear } = WORDED[endpointOf(path)] ?? {};
  if (decide === undefined || !('body' in expected) || sent.statusCode !== 200) {
    // Of several mistakes of these requests, either may be named.
    const { named, ...refusal } = { named: undefined, ...expected };
    const right = decide === undefined && named !== undefined ? expected : refusal;
    return difference([found(right, sent)], [decided(right)]);
  }
  // As JSON, which has no -0.
  const [is, right] = [JSON.parse(sent.body), JSON.parse(JSON.stringify(expected.body))].map((body) =>
    decide(body as Row),
  );
  return isNear === undefined ? difference([is], [right]) : (nearDifference(is, right, isNear) ?? undefined);
}

/** The answer in the form of an expectation. */
function found(expected: Expected, { statusCode: status, body }: Answer): unknown {
  const answer = JSON.parse(body) as { error?: Record<string, string> };
  const { code, message = '' } = answer.error ?? {};
  if ('body' in expected || code === undefined) return decided({ status, body: answer });
  const { named } = expected;
  const isNamed = named !== undefined && new RegExp(`\\b(${named})\\b`).test(message);
  return { status, code, ...(named === undefined ? {} : { named: isNamed ? named : message }) };
}

const OPEN_COLUMNS = /^quality_(events|rankingUpdates)|^error_message$/;
const SUMS = /sum_position$/;

/** A cell of CSV: texts that a spreadsheet would run begin with an apostrophe. */
function cell(column: string, value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'number') return numberText(column, value);
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value as boolean);
}

async function flatDifference(format: string, path: string, body: object, sent: Answer): Promise<unknown> {
  const { columns, rows } = flatRows(endpointOf(path), new URLSearchParams(path.split('?')[1]), body as never);
  const { paging, range } = body as { paging?: { total: number }; range?: Row };
  const { comparison, provisionalAfter } = (range ?? {}) as Record<string, Row | null>;
  const heads = {
    status: 200,
    'x-total-count': paging?.total ?? rows.length,
    'x-range-from': range?.['from'],
    'x-range-to': range?.['to'],
    'x-provisional-after': provisionalAfter ?? undefined,
    'x-comparison-from': comparison?.['from'],
    'x-comparison-to': comparison?.['to'],
  };
  const is = Object.fromEntries(Object.keys(heads).map((name) => [name, sent.headers[name]]));
  const heading = difference(
    [{ ...is, status: sent.statusCode, 'x-total-count': Number(is['x-total-count']) }],
    [heads],
  );
  if (heading !== undefined) return heading;
  const isExact = format === 'arrow' || format === 'parquet';
  const names = columns.filter((column) => !OPEN_COLUMNS.test(column) && (isExact || !SUMS.test(column)));
  const expected = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  if (format === 'csv') {
    const [head = [], ...lines] = parseCsv(sent.body);
    const kept = head.flatMap((column, at) => (OPEN_COLUMNS.test(column) ? [] : [at]));
    const right = [names, ...expected.map((row) => names.map((name) => cell(name, row[name])))];
    return difference(
      [head, ...lines].map((line) => kept.map((at) => line[at])),
      right,
    );
  }
  const read = (await rowsOf(format, sent)).map((row) => without(row, OPEN_COLUMNS));
  if (read.length > 0) {
    const order = difference([Object.keys(read[0]!)], [names]);
    if (order !== undefined) return order;
  }
  for (const name of names.filter((column) => SUMS.test(column))) {
    // Sums of spread months are fractions.
    const isNear = (a: unknown, b: unknown): boolean =>
      a === b || Math.abs(Number(a) - Number(b)) <= 1e-9 * Math.abs(Number(b));
    if (!read.every((row, at) => isNear(row[name], expected[at]?.[name]))) {
      return { found: read.map((row) => row[name]), expected: expected.map((row) => row[name]) };
    }
  }
  return difference(
    read.map((row) => without(row, SUMS)),
    expected.map((row) => without(row, SUMS)),
  );
}

/** The rows of an answer in a format other than CSV. */
export async function rowsOf(format: string, { body, rawPayload }: Answer): Promise<Row[]> {
  if (format === 'ndjson') return parseNdjson(body);
  return (format === 'arrow' ? readArrow(rawPayload) : await readParquet(rawPayload)).rows;
}

/** The first difference of two lists. */
export function difference(is: unknown[], right: unknown[]): unknown {
  if (isDeepStrictEqual(is, right)) return undefined;
  const at = right.findIndex((row, index) => !isDeepStrictEqual(row, is[index]));
  return { at, found: is[at] ?? is.length, expected: right[at] ?? right.length };
}

/** Where two answers differ whose numbers may differ a little; null if nowhere. @param isNear undefined where they must be equal */
function nearDifference(found: unknown, expected: unknown, isNear: IsNear, path = ''): string | null {
  if (typeof found !== 'object' || typeof expected !== 'object' || found === null || expected === null) {
    const areNumbers = typeof found === 'number' && typeof expected === 'number';
    const isRight = (areNumbers ? isNear(found, expected, path) : undefined) ?? Object.is(found, expected);
    return isRight ? null : `${path}: ${String(found)}, not ${String(expected)}`;
  }
  for (const name of new Set([...Object.keys(found), ...Object.keys(expected)])) {
    const one = nearDifference((found as Row)[name], (expected as Row)[name], isNear, `${path}.${name}`);
    if (one !== null) return one;
  }
  return null;
}
