// The index state of pages comes in its stated order, in every format, with sorts and ties.
import t from 'tap';
import { ROUTES } from '../../server/api/api.ts';
import { putInspections } from '../../server/catalog/inspections.ts';
import { parseCsv } from '../formats/read.ts';
import { makeWorld, NOW, PROJECT, type Row } from '../world.ts';

const urlOf = (name: string): string => `https://shop.example/${encodeURIComponent(name)}`;

const world = await makeWorld(t);

/** The names of the rows of an answer, as JSON and as CSV have them. */
async function namesIn(path: string, rows: string, field: string): Promise<readonly [unknown[], unknown[]]> {
  const { body } = await world.ask(path);
  const url = `/api/v1/projects/Proj1${path.replace('?', '.csv?')}`;
  const csv = await world.app.inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  const [head = [], ...lines] = parseCsv(csv.body);
  return [body[rows].map((row: Row) => row[field]), lines.map((line) => line[head.indexOf(field)])];
}

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
    ...[
      'keywords',
      'queries',
      'pages',
      'breakdowns',
      'site',
      'hours',
      'surfaces',
      'groups',
      'page-groups',
      'alerts',
      'notes',
    ],
  ],
  'test/contract/findings.test.ts': ['findings'],
  'test/contract/explain.test.ts': ['explain'],
  'test/contract/questions.test.ts': ['query'],
  'test/routes/surfaces.test.ts': ['ai'],
  'test/routes/crawl.test.ts': ['crawl'],
  'test/sync/sitemaps.test.ts': ['sitemaps'],
  'test/sync/inspections.test.ts': ['index/history'],
  'test/routes/effects.test.ts': ['effects'],
  'test/routes/snapshot.test.ts': ['snapshot'],
};

t.test('every endpoint is here or elsewhere', async (t) => {
  const named = ['index', ...Object.values(ELSEWHERE).flat()];
  const paths = named.map((name) => (name.startsWith('/') ? name : `/projects/:id/${name}`));
  const one = ['/projects/:id', '/projects/:id/snapshot/:file'];
  t.strictSame(ROUTES.map(({ path }) => path).sort(), [...paths, ...one].sort());
});
