// The screen of a page says whether the page is in the index, and what it was before; Data has the sitemaps.
import t from 'tap';
import { putInspections } from '../../server/catalog/inspections.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import { putSitemaps } from '../../server/catalog/sitemaps.ts';
import { INDEX_FIELDS, type IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { watchedPage } from './browser.ts';
import { axeFindings, catalog, lookAt, open, origin, signedIn, world } from './setup.ts';

const { pages } = (await world.ask('/pages?limit=1')).body as { pages: { url: string }[] };
const { url } = pages[0]!;
const nothing = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null])) as IndexState;
const indexed = { ...nothing, verdict: 'PASS', coverageState: 'Submitted and indexed', googleCanonical: url };
const dropped = { ...indexed, verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };

t.test('a page that was in the index and is not', async (t) => {
  const { property } = (await findAnyProject(catalog, 'Proj1'))!;
  for (const [day, state] of [
    ['2026-01-05', indexed],
    ['2026-01-12', dropped],
  ] as const) {
    const at = toMicroseconds(Date.parse(`${day}T12:00:00Z`));
    const result = { url, at, clicks: 1, isWatched: false, inspection: { state, lastCrawlTime: null } };
    await putInspections(catalog, { id: 'Proj1', property }, [result], { dueAt: at, reason: null });
  }
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, `/app/p/Proj1/pages/one?of=${encodeURIComponent(url)}`);
  const card = page.locator('section[aria-label="In the index"]');
  t.match(await card.innerText(), /In the index: no\s+Crawled - currently not indexed, since 2026-01-12\./);
  await card.locator('summary').click();
  t.match(await card.locator('li').allInnerTexts(), [
    '2026-01-12: Crawled - currently not indexed',
    '2026-01-05: Submitted and indexed',
  ]);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'index-state');
  t.strictSame(
    problems.filter((each) => !/503/.test(each)),
    [],
  );
  await context.close();
});

t.test('the sitemaps stand below the stored days', async (t) => {
  const { property } = (await findAnyProject(catalog, 'Proj1'))!;
  const at = toMicroseconds(Date.parse('2026-01-12T12:00:00Z'));
  const sitemap = { path: 'https://shop.example/sitemap.xml', type: 'sitemap', isIndex: false, isPending: false };
  const times = { lastSubmitted: null, lastDownloaded: '2026-01-11T12:00:00.000Z' };
  const sitemaps = [{ ...sitemap, ...times, warnings: 2, errors: 0, urls: 1200 }];
  await putSitemaps(catalog, 'Proj1', property, { sitemaps, fetchedAt: at, reason: null, dueAt: at });
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/data');
  const card = page.locator('section[aria-label="Sitemaps"]');
  t.strictSame(await card.locator('tbody td').allInnerTexts(), ['2026-01-11', '1,200', '0', '2']);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'sitemaps');
  await context.close();
});
