// A chart shows several metrics and several subjects, each line with the numbers of the API, and its markers open.
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, open, origin, signedIn } from './setup.ts';

t.test('metrics and subjects are added to the chart, and stay in the address', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  await page.getByRole('button', { name: 'Impressions', exact: true }).click();
  await page.getByRole('button', { name: 'Position', exact: true }).click();
  await page.waitForURL(/also=impressions%2Cposition/);
  await page.getByRole('button', { name: 'Line', exact: true }).click();
  await page.getByLabel('Line of').selectOption('brand');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: 'Line', exact: true }).click();
  await page.getByLabel('Line of').selectOption('page');
  await page.getByLabel('Address of the page').fill('https://shop.example/boots');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.waitForURL(/lines=brand/);
  await settled(page);
  await page.locator('.key-series').nth(3).waitFor();
  t.equal(await page.getByRole('button', { name: 'Line', exact: true }).count(), 0, 'four lines are all');
  t.strictSame(await page.locator('.key-series').allInnerTexts(), [
    'Impressions',
    'Position',
    'Brand',
    'https://shop.example/boots',
  ]);
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.getByRole('button', { name: 'Table' }).click();
  const first = await page.locator('.chart-table tbody tr').first().locator('td').allInnerTexts();
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  const api = async (path: string): Promise<any> => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const answer = await context.request.get(`${origin}/app/api/projects/Proj1/${path}`, { headers });
    return JSON.parse(await answer.text()) as unknown;
  };
  const [site] = (await api('site?to=final&compare=previous&quality=1')).daily;
  const [brand] = (await api('line?of=brand&to=final')).daily;
  const then = site.comparison;
  t.strictSame(first.slice(1, 11), [
    ...[site.clicks, then.clicks, site.impressions, then.impressions].map(String),
    ...[site.position, then.position].map((position: number) => position.toFixed(1)),
    ...[brand.clicks, brand.clicks, 6, 6].map(String),
  ]);
  await page.reload();
  await settled(page);
  t.equal(await page.locator('.key-series').count(), 4, 'the address has them');
  await page.getByRole('button', { name: 'Brand' }).click();
  await page.waitForURL((url) => !url.searchParams.get('lines')?.includes('brand'));
  t.strictSame(problems, []);
  await context.close();
});

t.test('a marker opens what it stands for, by keys too, and leads there', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  const alert = page.getByRole('button', { name: /Alert: Fell/ });
  await alert.focus();
  await page.keyboard.press('Enter');
  await page.locator('.marker-box').getByText('Fell:').waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.keyboard.press('Escape');
  await page.locator('.marker-box').waitFor({ state: 'detached' });
  await alert.click();
  await page.getByRole('link', { name: 'Open the alert' }).click();
  await page.waitForURL(/\/alerts\?alert=0{8}-/);
  await page.goBack();
  await settled(page);
  await page
    .getByRole('button', { name: /Note: / })
    .first()
    .click();
  await page.getByRole('link', { name: 'All notes' }).click();
  await page.waitForURL(/\/notes/);
  t.strictSame(problems, []);
  await context.close();
});

t.test('the key of a chart names only what the chart has', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  t.equal(await page.locator('.key-note').count(), 1);
  await open(page, '/app/p/Proj1?period=7d');
  await page.locator('.chart-canvas canvas').waitFor();
  t.equal(await page.locator('.key-note').count(), 0, 'no note is about these days');
  await context.close();
});

t.test('arrow keys read each line of a day', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1?also=impressions');
  await page.locator('.performance .chart-canvas').focus();
  await page.keyboard.press('ArrowLeft');
  const status = page.locator('.performance [role=status]').first();
  await status.filter({ hasText: /Clicks: \d+ \(\d+ compared\), Impressions: \d+/ }).waitFor();
  t.pass();
  await context.close();
});

t.test(
  'the report of a month has its numbers, compared with the month before, and prints without controls',
  async (t) => {
    const context = await signedIn();
    const { page, problems } = await watchedPage(context, origin);
    await open(page, '/app/p/Proj1');
    await page.getByRole('link', { name: 'Report', exact: true }).click();
    await page.waitForURL(/\/report\?.*from=/);
    await settled(page);
    const { searchParams } = new URL(page.url());
    const [from, to] = ['from', 'to'].map((name) => searchParams.get(name)!);
    t.match(from, /-01$/);
    t.equal(new Date(Date.parse(to!) + 86_400_000).getUTCDate(), 1, 'a whole month');
    const headers = { 'sec-fetch-site': 'same-origin' };
    const answer = await context.request.get(
      `${origin}/app/api/projects/Proj1/site?from=${from}&to=${to}&compare=previous`,
      {
        headers,
      },
    );
    const { totals, range } = JSON.parse(await answer.text()) as {
      totals: { clicks: number };
      range: { comparison: { from: string; to: string } };
    };
    const { from: first, to: last } = range.comparison;
    t.equal(Date.parse(from!) - Date.parse(last), 86_400_000, 'the month before ends where the month begins');
    t.match(first, /-01$/, 'and is a whole one');
    const name = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' }).format(Date.parse(first));
    t.match(await page.locator('.report-head').innerText(), `compared with ${name}`);
    t.equal(await page.locator('.metric-value').first().innerText(), totals.clicks.toLocaleString('en'));
    t.strictSame(await axeFindings(page), [], 'axe');
    await page.emulateMedia({ media: 'print' });
    t.notOk(await page.getByLabel('Month', { exact: true }).isVisible());
    t.ok(await page.locator('.metrics').isVisible());
    t.strictSame(problems, []);
    await context.close();
  },
);
