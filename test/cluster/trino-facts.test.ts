// Trino and DuckDB give equal results for every question about stored facts.
import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { filesOf, keywordFilesUntil, type StoredTable } from '../../server/catalog/manifest.ts';
import { addDays, type Day } from '../../server/domain/dates.ts';
import { shortIdNumber } from '../../server/domain/ids.ts';
import { DuckDBReader } from '../../server/facts/duckdb/reader.ts';
import type { Breakdown, Device, Facts, FactsQuery, TakeColumns } from '../../server/facts/facts.ts';
import { StoredFacts } from '../../server/facts/stored-facts.ts';
import { ConcurrencyLimit } from '../../server/runtime/limits.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { untidyWorld } from '../contract/untidy-world.ts';
import { Random } from '../random.ts';
import { sharedEngine, type Tables, type World } from '../world.ts';
import { skip, trinoWorld } from './trino-world.ts';

const { signal } = new AbortController();

interface Both {
  readonly world: World;
  readonly duckdb: Facts;
  readonly trino: Facts;
}

/** The same stored facts, read by both engines. */
async function bothOf(t: Test, tables: Tables): Promise<Both> {
  const { world, reader } = await trinoWorld(t, tables);
  const files = await openFileStore(world.settings);
  t.teardown(() => files[Symbol.asyncDispose]());
  const local = new DuckDBReader(await sharedEngine(world.settings), files, new ConcurrencyLimit(1));
  return { world, duckdb: new StoredFacts(local), trino: new StoredFacts(local, () => reader) };
}

/** Rows of columns, sorted: they come in no order. */
async function rowsOf(read: (take: TakeColumns) => Promise<void>): Promise<number[][]> {
  const all: number[][] = [];
  await read((columns, rows) => {
    for (let row = 0; row < rows; row++) all.push(columns.map((column) => column[row]!));
  });
  return all.sort((a, b) => {
    const at = a.findIndex((value, index) => value !== b[index]);
    return at === -1 ? 0 : a[at]! - b[at]!;
  });
}

const byName = <T extends { readonly name: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));

interface Question {
  readonly project: string;
  readonly from: Day;
  readonly to: Day;
  readonly device: Device;
  readonly country: string;
}

/** All questions about a project, answered by one engine. */
async function answers(
  { world: { catalog } }: Both,
  facts: Facts,
  question: Question,
): Promise<Record<string, unknown>> {
  const { project, from, to, device, country } = question;
  const range = { from, to };
  const query = async (table: StoredTable): Promise<FactsQuery> => ({
    files: await filesOf(catalog, project, table, range),
    range,
    signal,
  });
  const keywords = (await catalog.statements.all<{ id: string }>('keywords_of_project', { project })).map(
    ({ id }) => id,
  );
  const indexes = new Map(keywords.map((id, place) => [shortIdNumber(id), place]));
  const days = await query(device === 'all' ? 'keyword_all' : 'keyword_daily');
  const all = await query('keyword_all');
  const pages = await query('keyword_page_daily');
  const urls = (await facts.pageUrls(await query('page_daily'))).sort();
  const files = await keywordFilesUntil(catalog, project, to, device === 'all');
  const totals = await facts.keywordTotals({ files, range, unknown: new Set(), signal }, device, indexes);
  const breakdowns: readonly (readonly [Breakdown, StoredTable])[] = [
    ['country', 'country_daily'],
    ['device', 'site_daily'],
    ['appearance', 'appearance_daily'],
    ['brand', 'brand_daily'],
  ];
  const grid = await facts.keywordDays(days, device, keywords, 0);
  const cumulative = await query('keyword_cumulative');
  const rows = { ...(await query('page_daily')), text: 'url', country: null, least: 1, most: 100 } as const;
  return {
    siteDays: await facts.siteDays(await query('site_daily'), device),
    siteDevices: await facts.siteDevices(await query('site_daily')),
    countryDays: await facts.countryDays(await query('country_daily'), country),
    countryMonths: await facts.countryMonths(await query('country_monthly'), country),
    allCountryMonths: await facts.countryMonths(await query('country_monthly'), null),
    breakdowns: await Promise.all(
      breakdowns.map(async ([breakdown, table]) => byName(await facts.totalsBy(breakdown, await query(table)))),
    ),
    totals: [...indexes.values()].map((index) => totals.of({ index })),
    keywordDays: [
      grid.days,
      ...[grid.clicks, grid.impressions, grid.sumPosition, grid.stored].map((cells) => [...cells]),
    ],
    keywordImpressions: await rowsOf((take) => facts.keywordImpressions(all, keywords.slice(1), take)),
    keywordCumulativeDays: await Promise.all(
      cumulative.files.map((file) =>
        rowsOf((take) => facts.keywordCumulativeDays({ ...cumulative, files: [file] }, take)),
      ),
    ),
    keywordSums: await facts.keywordSums(all, keywords.slice(0, 3)),
    noKeywordSums: await facts.keywordSums(all, []),
    storedDays: await facts.storedDays(days),
    keywordPages: await rowsOf((take) => facts.keywordPages(pages, keywords.slice(0, 2), take)),
    allKeywordPages: await rowsOf((take) => facts.keywordPages(pages, 'all', take)),
    keywordPageNames: [...(await facts.keywordPageNames(pages, keywords))].sort(([a], [b]) => a - b),
    keywordPageTotals: await facts.keywordPageTotals(pages, keywords[0] ?? 'none1', 2),
    keywordTopPages: (await facts.keywordTopPages(pages, keywords)).sort((a, b) => (a.keyword < b.keyword ? -1 : 1)),
    pageNumbers: await facts.pageNumbers(urls, signal),
    pageUrls: urls,
    pageSums: await facts.pageSums(await query('page_daily'), urls.slice(0, 2)),
    rowNames: await facts.rowNames(rows),
    rowSums: await rowsOf((take) => facts.rowSums(rows, 7, take)),
    rowSumsOfTenDays: await rowsOf((take) => facts.rowSums({ ...rows, country }, 10, take)),
  };
}

/** Several pages of a keyword, some of which differ by their fragments only. */
const URLS = [
  'https://a.example/',
  'https://a.example/#top',
  "https://a.example/it's?é=1",
  'https://b.example/\u{1f40d}',
];
const tablesOfWorld = fc.nat().map((seed): Tables => {
  const tables = untidyWorld(new Random(`trino ${seed}`));
  return {
    ...tables,
    keyword_page_daily: (tables['keyword_page_daily'] ?? []).map((row, at) => ({
      ...row,
      url: `${URLS[at % URLS.length]}&${at}`,
    })),
  };
});

const day = fc.nat(80).map((number) => addDays('2025-12-25', number));
const question = fc
  .record({
    ends: fc.tuple(day, day),
    device: fc.constantFrom<Device[]>('all', 'desktop', 'mobile', 'tablet'),
    country: fc.constantFrom('usa', 'deu', 'fra'),
  })
  .map(({ ends, ...more }) => ({ ...more, from: ends.toSorted()[0]!, to: ends.toSorted()[1]! }));

t.test('every question is answered equally by both engines', { skip }, async (t) => {
  const runs = Number(process.env['ORDINATE_TEST_RUNS'] ?? 2);
  const checks = fc.asyncProperty(
    tablesOfWorld,
    fc.array(question, { minLength: 3, maxLength: 3 }),
    async (tables, questions) => {
      const both = await bothOf(t, tables);
      const projects = (tables['projects'] ?? []).map(({ id }) => String(id));
      for (const asked of questions) {
        for (const project of projects) {
          const [expected, found] = [
            await answers(both, both.duckdb, { ...asked, project }),
            await answers(both, both.trino, { ...asked, project }),
          ];
          for (const [name, answer] of Object.entries(expected))
            deepStrictEqual(found[name], answer, `${name} of ${project}`);
        }
        const range = { from: asked.from, to: asked.to };
        const parts = async (table: StoredTable) =>
          Promise.all(
            projects.map(async (project) => ({
              files: await filesOf(both.world.catalog, project, table, range),
              range,
            })),
          );
        const [site, brand] = [await parts('site_daily'), await parts('brand_daily')];
        deepStrictEqual(
          await both.trino.siteDaysOfEach(site, asked.device, signal),
          await both.duckdb.siteDaysOfEach(site, asked.device, signal),
        );
        deepStrictEqual(
          await both.trino.queryTotalsOfEach(brand, signal),
          await both.duckdb.queryTotalsOfEach(brand, signal),
        );
      }
    },
  );
  await fc.assert(checks, { numRuns: runs, endOnFailure: true });
  t.pass(`${runs} worlds`);
});
