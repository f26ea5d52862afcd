// The index state of pages comes by address, or as sorted and then by address, in every format.
import t from 'tap';
import { putInspections } from '../../server/catalog/inspections.ts';
import { parseCsv } from '../formats/read.ts';
import { makeWorld, NOW, PROJECT, type Row } from '../world.ts';

const urlOf = (name: string): string => `https://shop.example/${encodeURIComponent(name)}`;

t.test('pages in their order, as JSON and as CSV', async (t) => {
  const { app, ask, catalog, key } = await makeWorld(t);
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
  await putInspections(catalog, project, results, { dueAt: at, reason: null });
  for (const [asked, names] of [
    ['', 'öko Apple apple mint zebra'],
    ['sort=-url', 'zebra mint apple Apple öko'],
    ['sort=verdict', 'öko Apple mint apple zebra'],
    ['sort=-verdict', 'apple zebra mint öko Apple'],
    ['sort=-since', 'öko Apple apple mint zebra'],
    ['filter=verdict:equals:PASS', 'apple zebra'],
    ['filter=verdict:not_equals:PASS&sort=-verdict', 'mint öko Apple'],
  ] as const) {
    const { pages } = (await ask(`/index?${asked}`)).body as { pages: Row[] };
    const headers = { authorization: `Bearer ${key}` };
    const csv = await app.inject({ url: `/api/v1/projects/Proj1/index.csv?${asked}`, headers });
    const [head = [], ...lines] = parseCsv(csv.body);
    const expected = names.split(' ').map(urlOf);
    const found = [pages.map((row) => row['url']), lines.map((line) => line[head.indexOf('url')])];
    t.strictSame(found, [expected, expected], asked);
  }
});
