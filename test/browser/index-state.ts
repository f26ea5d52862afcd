// The screen of a page says whether the page is in the index, and what it was before; Data has the sitemaps.
import type { Page } from 'playwright-core';
import t from 'tap';
import { storeCrawlDays } from '../../server/catalog/crawl-days.ts';
import { putInspections } from '../../server/catalog/inspections.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import { putSitemaps } from '../../server/catalog/sitemaps.ts';
import { INDEX_FIELDS, type IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, catalog, HUGE, lookAt, open, origin, SHIFTS, signedIn, world } from './setup.ts';

const { pages } = (await world.ask('/pages?limit=1')).body as { pages: { url: string }[] };
const { url } = pages[0]!;
const nothing = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null])) as IndexState;
const indexed = { ...nothing, verdict: 'PASS', coverageState: 'Submitted and indexed', googleCanonical: url };
const dropped = { ...indexed, verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };

/** A day as the browser writes it. */
function shown(page: Page, day: string): Promise<string> {
  return page.evaluate((text) => {
    const format = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
    return new Intl.DateTimeFormat(undefined, format).format(Date.parse(text));
  }, day);
}

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
  const [first, last] = [await shown(page, '2026-01-05'), await shown(page, '2026-01-12')];
  t.match(await card.innerText(), `Crawled - currently not indexed, since ${last}.`);
  t.match(await card.innerText(), /In the index: no/);
  await card.locator('summary').click();
  t.match(await card.locator('li').allInnerTexts(), [
    `${last}: Crawled - currently not indexed`,
    `${first}: Submitted and indexed`,
  ]);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'index-state');
  t.strictSame(
    problems.filter((each) => !/503/.test(each)),
    [],
  );
  await context.close();
});

t.test('all inspected pages are listed with filter, search, order and a link to their screens', async (t) => {
  const { property } = (await findAnyProject(catalog, 'Proj1'))!;
  const at = toMicroseconds(Date.parse('2026-01-13T12:00:00Z'));
  const others = Array.from(
    { length: 60 },
    (_, index) => `https://shop.example/other/${String(index).padStart(2, '0')}`,
  );
  const inspection = { state: indexed, lastCrawlTime: '2026-01-10T12:00:00.000Z' };
  const results = others.map((other) => ({ url: other, at, clicks: 1, isWatched: false, inspection }));
  await putInspections(catalog, { id: 'Proj1', property }, results, { dueAt: at, reason: null });
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/data');
  const card = page.locator('section[aria-label="Pages in the index"]');
  const listed = () => card.locator('tbody th').allInnerTexts();
  t.equal((await listed()).length, 50);
  t.match(await card.locator('.pager').innerText(), /of 61/);
  await card.getByRole('link', { name: 'Next' }).click();
  await settled(page);
  t.equal((await listed()).length, 11);
  await card.getByLabel('Verdict').selectOption('out');
  await page.waitForURL(/verdict=out/);
  await settled(page);
  t.strictSame(await listed(), [url]);
  t.match(await card.locator('tbody td').allInnerTexts(), [
    'Crawled - currently not indexed',
    await shown(page, '2026-01-12'),
  ]);
  await card.getByLabel('Verdict').selectOption('');
  await card.getByRole('searchbox').fill('OTHER/07');
  await page.waitForURL(/search=/);
  await settled(page);
  t.strictSame(await listed(), ['https://shop.example/other/07']);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'indexed-pages');
  await card.getByRole('link', { name: 'other/07' }).click();
  await page.waitForURL(/pages\/one\?/);
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
  const crawler = page.getByRole('region', { name: "Bing's crawler" });
  t.equal(await crawler.count(), 0, 'Bing was never connected');
  const card = page.locator('section[aria-label="Sitemaps"]');
  t.strictSame(await card.locator('tbody td').allInnerTexts(), [await shown(page, '2026-01-11'), '1,200', '0', '2']);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'sitemaps');
  const counts = { inLinks: 0, containsMalware: 0, code2xx: 1200, code301: 0, code302: 0, code5xx: 0, otherCodes: 0 };
  const crawled = { ...counts, crawledPages: 1234, crawlErrors: 34, code4xx: 34, inIndex: 900, blockedByRobotsTxt: 2 };
  const days = ['2026-01-10', '2026-01-11'].map((date) => ({ date, ...crawled }));
  await storeCrawlDays(catalog, { project: 'Proj1', property }, days, { keptFrom: null, now: at });
  await open(page, '/app/p/Proj1/data');
  await crawler.locator('summary').click();
  // What is stored stays when the connection goes.
  await crawler.getByText(/no connection to Bing/).waitFor();
  t.strictSame(await crawler.locator('tbody tr').first().locator('td').allInnerTexts(), ['1,234', '34', '2', '900']);
  t.equal(await crawler.locator('tbody th').first().innerText(), await shown(page, '2026-01-11'));
  t.match(await crawler.getByRole('link', { name: 'CSV' }).getAttribute('href'), /crawl\.csv\?bom=1$/);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'crawler-days');
  await context.close();
});

t.test('whichever part of Data is answered last, nothing moves', async (t) => {
  const context = await signedIn({ viewport: HUGE });
  const { page } = await watchedPage(context, origin);
  await page.addInitScript(SHIFTS);
  for (const late of ['index', 'sitemaps']) {
    const held = Promise.withResolvers<void>();
    await page.route(new RegExp(`/app/api/projects/Proj1/${late}\\b`), async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${origin}/app/p/Proj1/data`);
    await page.getByRole('region', { name: 'Days by table' }).waitFor();
    // Time to be drawn.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    held.resolve();
    for (const part of ['Pages in the index', 'Sitemaps', "Bing's crawler"])
      await page.getByRole('region', { name: part }).waitFor();
    await settled(page);
    t.ok(((await page.evaluate('window.shifts')) as number) < 0.01, `${late} last`);
    await page.unrouteAll();
  }
  await context.close();
});
