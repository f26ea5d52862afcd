// Whatever the dashboard shows can be clicked: rows open their screens, days and countries filter the view.
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, lookAt, open, origin, signedIn } from './setup.ts';

const BOOTS = 'https://shop.example/boots';

t.test('a page opens its queries, and a query its pages', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/pages?period=3m');
  await page.getByRole('link', { name: '/boots', exact: true }).click();
  await page.waitForURL((url) => url.pathname.endsWith('/pages/one') && url.searchParams.get('of') === BOOTS);
  t.match(page.url(), 'period=3m', 'the range goes along');
  await settled(page);
  t.equal(await page.locator('.keyword-head h2').innerText(), '/boots');
  t.ok(await page.locator('.performance .chart-canvas').isVisible(), 'its days of the archive');
  t.match(await page.locator('.nav-link[aria-current=page]').first().innerText(), 'Pages');
  t.match(await page.locator('main').innerText(), 'of tracked keywords only');
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'page-of-project');

  await open(page, '/app/p/Proj1/queries');
  const unknown = page.locator('tbody .row-name a.text', { hasText: '=1+1;' });
  await unknown.click();
  await page.waitForURL(/\/queries\/one\?of=/);
  await page.getByText('stored of tracked keywords only').waitFor();
  await settled(page);
  t.ok(await page.locator('.performance .chart-canvas').isVisible());
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.goBack();
  await page.getByRole('link', { name: 'walking boots' }).click();
  await page.waitForURL(/\/keywords\/Kw001/);
  await page.getByRole('link', { name: 'All pages of this query' }).click();
  await page.waitForURL(/\/queries\/one\?.*of=walking\+boots/);
  await page.getByRole('link', { name: 'Position over time' }).waitFor();
  await open(page, '/app/p/Proj1/queries/one');
  await page.getByText('There is nothing at this address').waitFor();
  t.strictSame(problems, []);
  await context.close();
});

t.test('the rows of the overview open too, by keys', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  await page.getByLabel('Top pages').getByRole('link', { name: '/boots', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/pages\/one\?of=/);
  await page.goBack();
  await page.getByLabel('Top queries').getByRole('link', { name: 'walking boots' }).click();
  await page.waitForURL(/\/keywords\/Kw001/);
  t.strictSame(problems, []);
  await context.close();
});

t.test('lists that a device does not filter say so', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1?device=mobile');
  for (const name of ['Top queries', 'Top pages']) {
    t.equal(await page.getByLabel(name).getByText('all devices', { exact: true }).count(), 1, name);
  }
  await open(page, '/app/p/Proj1/queries?change=new');
  await page.getByRole('link', { name: 'Show all queries' }).click();
  await page.getByRole('link', { name: 'walking boots' }).waitFor();
  await context.close();
});

t.test('a day of the chart narrows the view to it, by a click, by keys and in the table', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  const days = (): string => {
    const { searchParams } = new URL(page.url());
    return `${searchParams.get('from')} ${searchParams.get('to')}`;
  };
  await open(page, '/app/p/Proj1');
  const chart = page.locator('.performance .chart-canvas');
  const { x, y, width } = (await chart.boundingBox())!;
  await page.mouse.move(x + width / 2, y + 60);
  await page.mouse.click(x + width / 2, y + 60);
  await page.waitForURL(/from=/);
  t.match(days(), /^(\S+) \1$/, 'one day');
  await settled(page);
  await page.getByRole('button', { name: /^only .* remove this filter$/ }).click();
  await page.waitForURL((url) => !url.searchParams.has('from'));
  await settled(page);
  await chart.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForURL(/from=/);
  t.match(days(), /^(\S+) \1$/);
  await page.goBack();
  await settled(page);
  await page.locator('.performance').getByRole('button', { name: 'Table' }).click();
  await page.locator('.chart-table tbody button').first().click();
  await page.waitForURL(/from=/);
  t.match(days(), /^(\S+) \1$/);
  t.strictSame(problems, []);
  await context.close();
});

t.test('filters are chips, which go from screen to screen and count where they can', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/breakdowns');
  await page.getByRole('link', { name: 'Product snippets' }).click();
  await page.waitForURL(/explore\?.*where=/);
  await settled(page);
  await page.getByText('appearance is Product snippets').waitFor();
  t.ok((await page.locator('tbody tr').count()) > 1, 'an appearance has its days');
  await open(page, '/app/p/Proj1/breakdowns');
  await page.getByRole('link', { name: 'United Kingdom' }).click();
  await page.waitForURL(/country=gbr/);
  await page.getByRole('link', { name: 'Queries', exact: true }).first().click();
  await page.waitForURL(/\/queries\?.*country=gbr/);
  await settled(page);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const operator = page.getByLabel('Operator');
  t.match(await operator.locator('option').allInnerTexts(), ['contains', 'does not contain', 'is', 'is not']);
  await operator.selectOption('matches');
  await page.getByLabel('Value').fill('^walk(ing)? b');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.waitForURL(/filter=query%3Amatches/);
  await settled(page);
  t.strictSame(await page.locator('tbody .row-name .text').allInnerTexts(), ['walking boots']);
  t.equal(await page.locator('.filter-bar .chip').count(), 2);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await operator.selectOption('not_contains');
  await page.getByLabel('Value').fill('walking');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('Nothing matches these filters').waitFor();
  await page.getByRole('button', { name: /^query does not contain walking/ }).click();
  await page.locator('tbody .row-name .text').waitFor();

  await page.getByRole('link', { name: 'Pages', exact: true }).first().click();
  await page.waitForURL(/\/pages\?.*filter=query/);
  await settled(page);
  t.ok((await page.locator('tbody tr').count()) > 1, 'pages have no query to filter by');
  await page.getByRole('button', { name: /does not count here/ }).waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'chips');
  await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
  await settled(page);
  const top = page.getByLabel('Top queries').locator('.bar-name');
  t.equal(await top.count(), 1, 'the rows of the overview are filtered');
  await page.getByRole('button', { name: /^query matches regex/ }).click();
  await page.waitForURL((url) => !url.searchParams.has('filter'));
  await settled(page);
  const all = await top.count();
  t.ok(all > 1);
  await page.getByLabel('Top queries').getByRole('button', { name: 'Exclude walking boots' }).click();
  await page.waitForURL(/filter=query%3Anot_equals%3Awalking\+boots/);
  await settled(page);
  t.equal(await top.count(), all - 1);
  t.notOk((await top.allInnerTexts()).includes('walking boots'));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption('url');
  await page.getByLabel('Value').fill('/boots');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.waitForURL(/url%3Acontains%3A%2Fboots/);
  await settled(page);
  t.strictSame(await page.getByLabel('Top pages').locator('.bar-name').allInnerTexts(), ['/boots']);
  t.equal(await top.count(), all - 1, 'a filter of pages leaves queries alone');
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'overview-filters');
  t.strictSame(problems, []);
  await context.close();
});
