// What people do with the dashboard: filter by texts, type days, go back, lose the network.
import { readFile } from 'node:fs/promises';
import { readSheet } from 'read-excel-file/node';
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, catalog, NARROW, open, origin, signedIn, WIDE } from './setup.ts';

t.test('a condition on a text takes any text', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/queries');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption('query');
  await page.getByLabel('Value').fill('walking b');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.waitForURL(/filter=query%3Acontains%3Awalking\+b/);
  await settled(page);
  t.strictSame(await page.locator('tbody .row-name .text').allInnerTexts(), ['walking boots']);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption('ctr');
  await page.getByLabel('Value in percent').fill('1.1');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.waitForURL(/ctr%3Alte%3A0\.011$/);
  await page.getByRole('button', { name: 'CTR ≤ 1.1% remove this filter' }).waitFor();
  t.strictSame(problems, []);
  await context.close();
});

t.test('typed days count when they are right, and say what is wrong until then', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 400) refused.push(response.url());
  });
  await open(page, '/app/p/Proj1');
  await page.getByLabel('Period', { exact: true }).selectOption('custom');
  const first = page.getByLabel('First day', { exact: true });
  const last = page.getByLabel('Last day', { exact: true });
  const end = await last.inputValue();
  await first.fill('0202-01-01');
  await page.getByText(/^At most 486 days/).waitFor();
  await first.fill(end);
  await last.fill('2199-01-01');
  await page.getByText(/^Data ends on \w+ \d+, \d{4}$/).waitFor();
  await last.fill(end);
  await last.blur();
  await page.waitForURL((url) => url.searchParams.get('from') === end && url.searchParams.get('to') === end);
  await page.getByRole('button', { name: 'Previous period' }).click();
  await page.waitForURL((url) => url.searchParams.get('to')! < end);
  await page.getByLabel('Compare with').selectOption('custom');
  await page.waitForURL(/cfrom=/);
  await settled(page);
  t.equal(await page.getByLabel('First compared day').count(), 1);
  t.strictSame(refused, [], 'nothing was asked for that the API refuses');
  await open(page, '/app/p/Proj1?from=2026-13-45&to=2026-13-46');
  t.ok(await page.locator('.metrics').isVisible(), 'impossible days are the default');
  for (const period of ['last-month', 'quarter-to-date']) {
    await page.getByLabel('Period', { exact: true }).selectOption(period);
    await settled(page);
    t.equal(await page.locator('.notice-error').count(), 0, period);
  }
  t.strictSame(problems, []);
  await context.close();
});

t.test('numbers of another question are gone when one fails', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  const clicks = page.locator('.metric-value').first();
  t.match((await clicks.innerText()).trim(), /\d/);
  await context.setOffline(true);
  await page.getByLabel('Device').selectOption('desktop');
  await page.getByText('The server cannot be reached').first().waitFor();
  t.equal((await clicks.innerText()).trim(), '');
  await page.getByRole('link', { name: 'Breakdowns', exact: true }).first().click();
  await page.getByText('This screen could not be shown').waitFor();
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await context.close();
});

t.test('a chart is read by keys, zoomed by dragging, and saved', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  const chart = page.locator('.performance .chart-canvas');
  await chart.focus();
  await page.keyboard.press('Home');
  const spoken = page.locator('.performance figure p[role=status]');
  t.match(await spoken.innerText(), /^\w+, \w+ \d+, \d{4}, Clicks: [\d,]+ \([\d,]+ compared\)$/);
  const first = await spoken.innerText();
  await page.keyboard.press('ArrowRight');
  t.not(await spoken.innerText(), first, 'the next day');
  for (const [name, begin] of [
    ['PNG', '\u0089PNG'],
    ['CSV', 'from,to,clicks,compared_from,compared_clicks\r\n20'],
  ] as const) {
    const saved = page.waitForEvent('download');
    await page.locator('.performance').getByRole('button', { name }).click();
    const file = await readFile(await (await saved).path(), 'latin1');
    t.ok(file.startsWith(begin), name);
  }
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=/);
  const { searchParams } = new URL(page.url());
  const days = (Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)) / 86_400_000 + 1;
  t.ok(days > 4 && days < 11, `${days} of 28 days`);
  await page.goBack();
  t.notMatch(page.url(), 'from=');
  t.strictSame(problems, []);
  await context.close();
});

t.test('colours are chosen and kept; ? lists the shortcuts', async (t) => {
  const context = await signedIn({ colorScheme: 'light' });
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app');
  await page.getByRole('button', { name: 'Colours: system' }).click();
  await page.getByRole('button', { name: 'Colours: light' }).click();
  await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  t.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.reload();
  await settled(page);
  t.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.strictSame(problems, []);
  await context.close();
});

t.test('on a phone a name and its position are seen together', async (t) => {
  const context = await signedIn({ viewport: NARROW });
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/queries');
  const row = page.locator('tbody tr').first();
  for (const part of [row.locator('th'), row.locator('td').last()]) {
    const { x, width } = (await part.boundingBox())!;
    t.ok(x >= 0 && x + width <= NARROW.width, 'within the window');
  }
  const sizes = (await page.evaluate(
    `[...document.querySelectorAll('input, select')].map((each) => parseFloat(getComputedStyle(each).fontSize))`,
  )) as number[];
  t.ok(
    sizes.every((size) => size >= 16),
    'phones do not enlarge the page',
  );
  await context.close();
});

t.test('keys show when they expire and what they read, with their button in view', async (t) => {
  const made = { name: 'warehouse', by: null, at: Date.now() * 1000, projects: ['Proj1'] };
  await createKey(catalog, { workspace: 'acme', ...made, expiresAt: (Date.now() + 86_400_000) * 1000 });
  for (const viewport of [WIDE, NARROW]) {
    const context = await signedIn({ viewport });
    const { page } = await watchedPage(context, origin);
    await open(page, '/app/keys');
    const row = page.locator('tr', { hasText: 'warehouse' });
    t.match(await row.innerText(), /Proj1/);
    t.match(await row.locator('[data-label=Expires]').innerText(), /\d{4}/);
    const { x, width } = (await row.getByRole('button').boundingBox())!;
    t.ok(x > 0 && x + width <= viewport.width, `${viewport.width} pixels`);
    await context.close();
  }
});

t.test('a search and a period that follow each other at once both count', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/queries');
  await page.getByLabel('Search queries').fill('boots');
  await page.getByLabel('Period', { exact: true }).selectOption('7d');
  await page.waitForURL(/search=boots/);
  t.match(page.url(), 'period=7d');
  await context.close();
});

t.test('a view is saved, opened by its name and removed; a list is saved as a workbook', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/queries?change=down&period=3m');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByLabel('Name of this view').fill('What fell');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'What fell' }).waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await open(page, '/app/p/Proj1');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('link', { name: 'What fell' }).click();
  await page.waitForURL(/\/queries\?change=down&period=3m$/);
  await settled(page);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('button', { name: 'Remove the view What fell' }).click();
  await page.getByRole('link', { name: 'What fell' }).waitFor({ state: 'detached' });
  await open(page, '/app/p/Proj1/queries');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'XLSX of all rows' }).click(),
  ]);
  t.match(download.suggestedFilename(), /^shop\.example-queries-[\d-]+\.xlsx$/);
  const [heading, ...rows] = await readSheet((await download.path())!);
  t.equal(heading![0], 'query');
  t.equal(rows.length, await page.locator('tbody tr').count());
  t.ok(
    rows.some(([query]) => String(query).startsWith('=1+1')),
    'a text, no formula',
  );
  t.strictSame(problems, []);
  await context.close();
});

t.test('projects have marks and tags, and are narrowed to them', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/settings');
  await page.getByLabel('Tags', { exact: true }).last().fill('retail, uk');
  await page.getByRole('region', { name: 'Tags' }).getByRole('button', { name: 'Save' }).click();
  await open(page, '/app');
  await page.getByRole('button', { name: 'Favourite: failing.example' }).click();
  await page.getByLabel('Tag', { exact: true }).selectOption('uk');
  await page.waitForURL(/tag=uk/);
  await settled(page);
  t.strictSame(await page.locator('tbody .project-name .text').allInnerTexts(), ['shop.example']);
  await page.getByLabel('Tag', { exact: true }).selectOption('');
  await page.getByRole('button', { name: 'Favourites', exact: true }).click();
  await page.waitForURL(/marked=yes/);
  await settled(page);
  t.strictSame(await page.locator('tbody .project-name .text').allInnerTexts(), ['failing.example']);
  await page.getByRole('button', { name: 'Favourites', exact: true }).click();
  await page.getByText('All 5 projects').waitFor();
  t.match(await page.getByLabel('Open alerts of all projects').innerText(), '1 open alert');
  t.strictSame(await axeFindings(page), [], 'axe');
  t.strictSame(problems, []);
  await context.close();
});
