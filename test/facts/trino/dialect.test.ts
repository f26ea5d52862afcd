// Every statement about stored files runs on Trino, or is left to DuckDB.
import t from 'tap';
import { type FactsRead, type FactsReader, UnreadableHere } from '../../../server/facts/reader.ts';
import { StoredFacts } from '../../../server/facts/stored-facts.ts';
import { sumsSql } from '../../../server/facts/sums.ts';
import { toTrino } from '../../../server/facts/trino/dialect.ts';
import type { TRINO_TABLES } from '../../../server/facts/trino/tables.ts';
import { sqlNames, sqlTemplate, sqlText } from '../../../server/runtime/sql.ts';

const FILES = 'project_id in ($projects) and "$path" in ($files)';
const TEXT = { field: 'url', values: ['a'], fold: false } as const;
const PARTS = {
  name: 'url',
  text: 'url',
  times: '',
  by: 'query',
  rows: 'select 1',
  ...sumsSql({
    table: 'country_monthly',
    by: ['country', { column: 'url', texts: ['a'], names: ['b'] }],
    test: {
      op: 'and',
      of: (['equals', 'contains', 'starts_with', 'ends_with'] as const).map((op) => ({ ...TEXT, op })),
    },
    page: { order: [{ by: 'position', descending: true }], limit: 1, offset: 0 },
  }).fills,
};
const CUMULATIVE = { clicks: 'clicks_17', impressions: 'impressions_17', sumPosition: 'sum_position_17' };

/**
 * What translated statements may call: DuckDB and Trino have it, and it means the same. Of dates, with the unit: between
 * two days in different months is a month for DuckDB, and for Trino only if a whole one has passed.
 */
const IN_BOTH = new Set([
  ...[
    'bool_or',
    'cast',
    'coalesce',
    'count',
    "date_diff('day'",
    "date_trunc('month'",
    'floor',
    'from_base',
    'length',
    'max',
  ],
  ...[
    'min',
    'nullif',
    'row_number',
    'split_part',
    'starts_with',
    'strpos',
    'substr',
    'sum',
    'to_hex',
    'to_utf8',
    'unnest',
  ],
]);

/** What a statement calls that is not known to mean the same in both. */
function unknownCalls(text: string): string[] {
  const calls = [...text.matchAll(/(?<! as )\b(?:date_\w+\('\w+'|[a-z]\w*(?=\())/gi)].map(([called]) => called);
  return calls.filter((called) => !IN_BOTH.has(called));
}

t.test('every statement over stored files is one of Trino too, and reads the files of the manifest only', async (t) => {
  const names = ['facts', 'alerts', 'lists'].flatMap(sqlNames).filter((name) => sqlText(name).includes('($files'));
  t.ok(names.length > 18, 'all of them are looked at');
  for (const name of names) {
    const sql = sqlTemplate(name, PARTS);
    const text = toTrino(sql, 'keyword_cumulative', CUMULATIVE);
    t.strictSame(
      unknownCalls(text),
      [],
      `sql/${name}.sql calls what both engines have; a function that you looked up goes into IN_BOTH`,
    );
    const reads = sql.match(/\bread_parquet\(/g)?.length;
    t.equal(text.split(`from keyword_cumulative where ${FILES}`).length - 1, reads, name);
    t.equal(text.match(/\$files\b/g)!.length, reads! + (text.match(/unnest\(\$files\b/g)?.length ?? 0), name);
  }
});

t.test('a function is known by name, and one of dates with its unit', async (t) => {
  t.strictSame(unknownCalls("date_diff('day', a, cast(b as decimal(38, 0))), sum(median(c))"), ['median']);
  t.strictSame(unknownCalls("date_diff('month', a, b), date_diff(c, a, b)"), ["date_diff('month'", 'date_diff']);
});

t.test('what differs is translated', async (t) => {
  const of = (sql: string, table: keyof typeof TRINO_TABLES = 'site_daily'): string => toTrino(sql, table, CUMULATIVE);
  t.equal(
    of('-- a comment: $x\nselect date from read_parquet($files) f'),
    `select date from (select * from site_daily where ${FILES}) f`,
  );
  t.equal(
    of('from read_parquet($files, filename = true)'),
    `from (select *, "$path" as filename from site_daily where ${FILES})`,
  );
  t.equal(of('a in (select unnest($names) as name)'), 'a in (select * from unnest($names) as u(name))');
  t.equal(
    of('select unnest($a) as b,\n  generate_subscripts($a, 1) as ordinal, unnest($c) as d from x').replaceAll(
      /\s+/g,
      ' ',
    ),
    'select * from unnest($a, $c) with ordinality as u(b, d, ordinal) from x',
  );
  t.equal(of('select columns([$clicks]) as clicks', 'keyword_cumulative'), 'select clicks_17 as clicks');
  const days = of("columns('^impressions_')", 'keyword_cumulative').split(', ');
  t.strictSame([days.length, days[0], days[30]], [31, 'impressions_1', 'impressions_31']);
  t.equal(of("cast('0x' || hex(keyword_id) as bigint)"), 'from_base(to_hex(to_utf8(keyword_id)), 16)');
  t.equal(of("cast(hash(split_part(url, '#', 1)) >> 11 as double) as page"), "split_part(url, '#', 1) as page");
});

t.test('a column comes from our own tables', async (t) => {
  const sql = 'select columns([$clicks]) from read_parquet($files)';
  for (const clicks of ['clicks_32', '1; drop table x', 7]) {
    t.throws(() => toTrino(sql, 'keyword_cumulative', { clicks }), /keyword_cumulative has no column/);
  }
});

t.test("what is DuckDB's only is left to DuckDB", async (t) => {
  for (const only of ['clicks::double', 'columns(*)', 'hash(url)', "strftime(date, '%Y')", 'x = any($y)']) {
    const translate = async () => toTrino(`select ${only} from read_parquet($files)`, 'page_daily', {});
    t.ok((await translate().catch((error: unknown) => error)) instanceof UnreadableHere, only);
  }
});

const { signal } = new AbortController();
const files = [{ file: 'facts/page_daily/Proj1/2026-03-1.parquet', bytes: 1, sha256: '' }];
const query = { files, range: { from: '2026-03-01', to: '2026-03-31' }, signal } as const;

/** A reader that has one page, and the statements that it ran. */
function fakeReader(fails?: (name: string) => Error | undefined) {
  const ran: string[] = [];
  const reader: FactsReader & { pageNumbers: StoredFacts['pageNumbers'] } = {
    maxFiles: 2,
    async rows<Row>(name: string): Promise<Row[]> {
      ran.push(name);
      const failure = fails?.(name);
      if (failure !== undefined) throw failure;
      return [{ url: 'https://a.example/' } as Row];
    },
    async numbers(name: string, _read: FactsRead, take) {
      ran.push(name);
      take([Float64Array.of(1)], 1);
      const failure = fails?.(name);
      if (failure !== undefined) throw failure;
    },
    check: async () => {},
    pageNumbers: async (urls) => urls.map(() => 7),
  };
  return { reader, ran };
}

t.test('the local engine answers what the chosen one cannot read', async (t) => {
  const local = fakeReader();
  const distant = fakeReader(() => new UnreadableHere('old'));
  const facts = new StoredFacts(local.reader, () => distant.reader);
  t.strictSame(await facts.pageUrls(query), ['https://a.example/']);
  t.strictSame([distant.ran, local.ran], [['alerts/page_urls'], ['alerts/page_urls']]);
  t.strictSame(await facts.keywordPageNames(query, ['kwOne']), new Map([[7, 'https://a.example/']]));

  const taken: number[] = [];
  const reading = facts.keywordImpressions(query, ['kwOne'], (_, rows) => taken.push(rows));
  await t.rejects(reading, /after it had read others/);
  t.strictSame(taken, [1], 'no row is taken twice');

  const broken = fakeReader(() => new Error('broken'));
  await t.rejects(new StoredFacts(local.reader, () => broken.reader).pageUrls(query), { message: 'broken' });
});

t.test('a statement about several properties has no more files than its engine takes', async (t) => {
  const { reader, ran } = fakeReader();
  const ordinals: unknown[] = [];
  const numbers: FactsReader['numbers'] = async (name, read) => {
    ran.push(name);
    ordinals.push(read.values?.['ordinals']);
  };
  const part = (count: number) => ({ files: Array.from({ length: count }, () => files[0]!), range: query.range });
  const facts = new StoredFacts({ ...reader, numbers });
  await facts.queryTotalsOfEach([part(1), part(0), part(1), part(3), part(1)], signal);
  t.strictSame(ordinals, [['0', '2'], ['3', '3', '3'], ['4']]);
  await facts.queryTotalsOfEach([part(0)], signal);
  t.equal(ran.length, 3, 'nothing is asked of no files');
});
