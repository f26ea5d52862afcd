// Each number that changed leads to what explains it: parts that add up, the rows, and what no row can say.
import type { Page } from 'playwright-core';
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, lookAt, open, origin, signedIn } from './setup.ts';

/** The numbers of the last column of the waterfall. */
async function parts(page: Page): Promise<number[]> {
  const texts = await page.locator('.waterfall td.number').allInnerTexts();
  return texts.map((text) => Number(text.replaceAll(/[^\d−]/g, '').replace('−', '-')));
}

t.test('from a change to its parts and rows', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  await page.locator('.metrics a.change').first().click();
  await page.waitForURL(/\/p\/Proj1\/explain/);
  await settled(page);
  for (const by of ['Pages', 'Queries', 'Keywords', 'Devices', 'Countries', 'Brand']) {
    await page.getByLabel('Rows', { exact: true }).selectOption({ label: by });
    await page.waitForTimeout(100);
    await settled(page);
    const numbers = await parts(page);
    const all = numbers.pop();
    t.equal(
      numbers.reduce((sum, part) => sum + part, 0),
      all,
      `${by}: the parts add up`,
    );
    t.match(await page.locator('main').innerText(), /Not in any row/, by);
    t.strictSame(await axeFindings(page), [], `${by}: axe`);
    if (by === 'Queries' || by === 'Devices') await lookAt(t, page, `explain-${by.toLowerCase()}`);
  }
  t.strictSame(problems, []);
  await context.close();
});

t.test('lists and breakdowns lead to the rows of their kind', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  // Fewer days than those of the period, so that all rows have changed.
  const day = (before: number): string => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
  const compared = `?compare=custom&cfrom=${day(46)}&cto=${day(40)}`;
  for (const [screen, by] of [
    ['/queries', 'query'],
    ['/pages', ''],
    ['/keywords', 'keyword'],
    ['/breakdowns', 'device'],
  ] as const) {
    await open(page, `/app/p/Proj1${screen}${compared}`);
    const cards = screen === '/breakdowns' ? page.locator('.breakdown', { hasText: 'Devices' }) : page.locator('main');
    await cards.locator('a.change').first().click();
    await page.waitForURL(/\/explain/);
    t.equal(new URL(page.url()).searchParams.get('by') ?? '', by, screen);
  }
  t.strictSame(problems, []);
  await context.close();
});
