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
  t.equal(await card.locator('tbody tr').last().locator('td').last().innerText(), '–', 'discover has no position');
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
    t.equal(await page.locator('.performance a.change').count(), 0, 'explanations are of web');
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
