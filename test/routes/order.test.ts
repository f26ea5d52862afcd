// Rows of explanations, index states and questions come in their stated order, in every format, with sorts and ties.
import t from 'tap';
import { ROUTES } from '../../server/api/api.ts';
import { putInspections } from '../../server/catalog/inspections.ts';
import { parseCsv } from '../formats/read.ts';
import { facts, makeWorld, NOW, PROJECT, type Row } from '../world.ts';

/**
 * Names and their clicks, impressions and sums of positions: the order of clicks, of names, of impressions and of the rows
 * as loaded all differ. Some rows are equal in clicks, some in clicks and impressions, one has no impressions.
 */
const NUMBERS: readonly (readonly [name: string, clicks: number, impressions: number, sumPosition: number])[] = [
  ['zebra', 9, 30, 30],
  ['mint', 9, 30, 10],
  ['apple', 2, 30, 300],
  ['öko', 9, 40, 0],
  ['kiwi', 20, 25, 50],
  ['Boots 10', 2, 12, 24],
  ['boots 9', 2, 12, 24],
  ['fig', 0, 5, 40],
  ['empty', 0, 0, 0],
  ['cedar', 35, 350, 3500],
];
const day = '2026-03-05';
const urlOf = (name: string): string => `https://shop.example/${encodeURIComponent(name)}`;

/** Each request comes a second after the one before, so that none is over the limit. */
let time = NOW;
const world = await makeWorld(
  t,
  {
    query_daily: facts('date query country', ...NUMBERS.map(([name, ...row]) => [day, name, 'usa', ...row])),
    page_daily: facts('date url country', ...NUMBERS.map(([name, ...row]) => [day, urlOf(name), 'usa', ...row])),
    site_daily: facts('date device', [day, 'mobile', 90, 600, 60], ['2026-03-04', 'mobile', 1, 5, 6]),
  },
  { now: () => (time += 1000) },
);

/** The names of the rows of an answer, as JSON and as CSV have them. */
async function namesIn(path: string, rows: string, field: string): Promise<readonly [unknown[], unknown[]]> {
  const { body } = await world.ask(path);
  const url = `/api/v1/projects/Proj1${path.replace('?', '.csv?')}`;
  const csv = await world.app.inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  const [head = [], ...lines] = parseCsv(csv.body);
  return [body[rows].map((row: Row) => row[field]), lines.map((line) => line[head.indexOf(field)])];
}

const BY_CHANGE = ['cedar', 'kiwi', 'mint', 'zebra', 'öko', 'Boots 10', 'apple', 'boots 9', 'fig'];

t.test('rows of an explanation: largest change first, then by key', async (t) => {
  for (const [by, names] of [
    ['query', BY_CHANGE],
    ['page', [...BY_CHANGE.slice(0, 2), 'öko', 'mint', 'zebra', ...BY_CHANGE.slice(5)].map(urlOf)],
  ] as const) {
    const [json, csv] = await namesIn(`/explain?from=${day}&to=${day}&compare=previous&by=${by}`, 'rows', by);
    t.strictSame(json, names, by);
    t.strictSame(csv.slice(0, names.length), names, `${by} in CSV`);
  }
});

t.test('rows of questions: most clicks first, or as sorted, then so', async (t) => {
  const byClicks = ['cedar', 'kiwi', 'öko', 'mint', 'zebra', 'apple', 'Boots 10', 'boots 9', 'fig'];
  for (const [sort, names] of [
    [undefined, byClicks],
    [['query'], ['Boots 10', 'apple', 'boots 9', 'cedar', 'fig', 'kiwi', 'mint', 'zebra', 'öko']],
    [['-position'], ['cedar', 'apple', 'fig', 'kiwi', 'Boots 10', 'boots 9', 'zebra', 'mint', 'öko']],
  ] as const) {
    const question = { range: { from: day, to: day }, dimensions: ['query'], ...(sort && { sort }) };
    const [json, csv] = await namesIn(`/query?q=${encodeURIComponent(JSON.stringify(question))}`, 'rows', 'query');
    t.strictSame(json, names, String(sort));
    t.strictSame(csv, names, `${String(sort)} in CSV`);
  }
});

t.test('the index state of pages: by address, or as sorted, then by address', async (t) => {
  const state = {
    ...{ coverageState: 'Submitted and indexed', robotsTxtState: null, indexingState: null, pageFetchState: null },
    ...{ googleCanonical: null, userCanonical: null, crawledAs: null },
  };
  const at = (NOW - 86_400_000) * 1000;
  const verdicts = { zebra: 'PASS', Apple: 'FAIL', apple: 'PASS', öko: 'FAIL', mint: 'NEUTRAL' };
  const results = Object.entries(verdicts).map(([name, verdict]) => ({
    ...{ url: urlOf(name), at, clicks: 1, isWatched: false },
    inspection: { state: { verdict, ...state }, lastCrawlTime: null },
  }));
  const project = { id: 'Proj1', property: String(PROJECT['property']) };
  await putInspections(world.catalog, project, results, { dueAt: at, reason: null });
  for (const [asked, names] of [
    ['', ['öko', 'Apple', 'apple', 'mint', 'zebra']],
    ['sort=-url', ['zebra', 'mint', 'apple', 'Apple', 'öko']],
    ['sort=verdict', ['öko', 'Apple', 'mint', 'apple', 'zebra']],
    ['sort=-verdict', ['apple', 'zebra', 'mint', 'öko', 'Apple']],
    ['sort=-since', ['öko', 'Apple', 'apple', 'mint', 'zebra']],
    ['filter=verdict:equals:PASS', ['apple', 'zebra']],
    ['filter=verdict:not_equals:PASS&sort=-verdict', ['mint', 'öko', 'Apple']],
  ] as const) {
    const [json, csv] = await namesIn(`/index?${asked}`, 'pages', 'url');
    t.strictSame(json, names.map(urlOf), asked);
    t.strictSame(csv, names.map(urlOf), `${asked} in CSV`);
  }
});

/** Where the order of an endpoint's rows is tested, if not here. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'test/contract/contract.test.ts': [
    ...['/projects', '/portfolio'],
    ...['keywords', 'queries', 'pages', 'breakdowns', 'site', 'surfaces', 'groups', 'page-groups', 'alerts', 'notes'],
  ],
  'test/contract/findings.test.ts': ['findings'],
  'test/routes/hours.test.ts': ['hours'],
  'test/routes/surfaces.test.ts': ['ai'],
  'test/routes/crawl.test.ts': ['crawl'],
  'test/sync/sitemaps.test.ts': ['sitemaps'],
  'test/sync/inspections.test.ts': ['index/history'],
  'test/routes/effects.test.ts': ['effects'],
  'test/routes/snapshot.test.ts': ['snapshot'],
};

t.test('every endpoint is here or elsewhere', async (t) => {
  const named = ['explain', 'index', 'query', ...Object.values(ELSEWHERE).flat()];
  const paths = named.map((name) => (name.startsWith('/') ? name : `/projects/:id/${name}`));
  const one = ['/projects/:id', '/projects/:id/snapshot/:file'];
  t.strictSame(ROUTES.map(({ path }) => path).sort(), [...paths, ...one].sort());
});
