// Each search type of a site has its own view, which shows nothing of another type.
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, lookAt, open, origin, signedIn, world } from './setup.ts';

t.test('from the overview to a search type and back', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1?compare=none');
  const card = page.locator('.surfaces');
  const { surfaces } = (await world.ask('/surfaces?to=final')).body as {
    surfaces: { clicks: number; impressions: number; position: number | null }[];
  };
  const exact = (value: number | null): string => (value === null ? '–' : value.toLocaleString('en'));
  const cells = card.locator('tbody .value');
  for (const [row, { clicks, impressions }] of surfaces.entries()) {
    t.equal(await cells.nth(3 * row).getAttribute('title'), exact(clicks));
    t.equal(await cells.nth(3 * row + 1).getAttribute('title'), exact(impressions));
  }
  const positionOf = (name: string) => card.getByRole('row', { name }).locator('td').last().innerText();
  t.equal(await positionOf('Discover'), '–', 'discover has no position');
  t.equal(await positionOf('Bing'), '–', 'days of Bing have no position');
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'surfaces');

  for (const [name, type] of [
    ['Image', 'image'],
    ['Discover', 'discover'],
  ] as const) {
    await card.getByRole('link', { name }).click();
    await page.waitForURL(new RegExp(`type=${type}`));
    await settled(page);
    const { totals } = (await world.ask(`/site?to=final&type=${type}`)).body as { totals: { clicks: number } };
    t.equal(await page.locator('.metric .value').first().getAttribute('title'), exact(totals.clicks), name);
    await page.getByRole('link', { name: 'Breakdowns' }).click();
    await page.waitForURL(/breakdowns/);
    await settled(page);
    const { countries } = (await world.ask(`/breakdowns?to=final&type=${type}`)).body as { countries: object[] };
    t.equal(await page.locator('.breakdown', { hasText: 'Countries' }).locator('tbody tr').count(), countries.length);
    await page.getByRole('link', { name: 'Overview' }).click();
    await settled(page);
  }
  t.notOk(await page.getByRole('region', { name: 'Top queries' }).count(), 'discover has no queries');
  await page.locator('.chip', { hasText: 'Discover' }).click();
  await settled(page);
  t.notMatch(page.url(), /type=/);
  // There it is the type of findings.
  await open(page, '/app/p/Proj1/findings?type=rising');
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.waitForURL(/\/p\/Proj1(\?|$)/);
  await settled(page);
  t.notMatch(page.url(), /type=/);
  t.ok((await page.locator('.performance a.change').count()) > 0, 'changes are of web, and explained');
  // Lists of other types come from a provider, and this project has none.
  t.strictSame(
    problems.filter((each) => !/503/.test(each)),
    [],
  );
  await context.close();
});

t.test('changes of a search type are explained by its own rows', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1?type=image');
  await page.locator('.performance a.change').first().click();
  await page.waitForURL(/explain.*type=image/);
  await settled(page);
  t.match(page.url(), /by=country/);
  const options = await page.getByLabel('Rows').locator('option').allInnerTexts();
  t.strictSame(options, ['Pages', 'Queries', 'Devices', 'Countries']);
  const { change } = (await world.ask('/explain?to=final&type=image&by=country&compare=previous')).body as {
    change: { clicks: { now: number } };
  };
  t.match(await page.locator('.explain h2').first().innerText(), `${change.clicks.now.toLocaleString('en')} now`);
  t.strictSame(await axeFindings(page), []);
  t.strictSame(problems, []);
  await context.close();
});

t.test('Bing: days, and weeks of queries and pages', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1?compare=none');
  await page.locator('.surfaces').getByRole('link', { name: 'Bing' }).click();
  await page.waitForURL(/engine=bing/);
  await settled(page);
  const { totals } = (await world.ask('/site?to=final&engine=bing')).body as { totals: { clicks: number } };
  t.equal(await page.locator('.metric .value').first().getAttribute('title'), totals.clicks.toLocaleString('en'));
  t.equal(await page.getByLabel('Device').count(), 0, 'Bing has no devices');
  await page.getByRole('region', { name: 'Top queries' }).getByRole('link', { name: 'bing boots' }).waitFor();
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'bing');
  await page.getByRole('link', { name: 'All queries' }).click();
  await page.waitForURL(/queries.*engine=bing/);
  await settled(page);
  const { range, queries } = (await world.ask('/queries?to=final&engine=bing')).body as {
    range: { from: string };
    queries: { clicks: number }[];
  };
  t.ok(range.from);
  t.equal(await page.locator('tbody .value').first().getAttribute('title'), String(queries[0]!.clicks));
  await page.getByText(/weeks of .*, which do not add up to the days of the site/).waitFor();
  await page.locator('tbody').getByRole('link', { name: 'bing boots' }).click();
  await page.getByRole('heading', { name: 'Its pages in Bing' }).waitFor();
  // The project is not connected.
  await page.getByText(/no source of pages of Bing by query or page/).waitFor();
  t.equal(await page.getByLabel('Device').count(), 0);
  await page.goBack();
  await settled(page);
  await page.locator('.chip', { hasText: 'Bing' }).click();
  await settled(page);
  t.notMatch(page.url(), /engine=/);
  t.strictSame(problems, []);
  await context.close();
});
