// Any question is asked by clicks; what is shown equals the answer of the API, and a refusal leads to what can be asked.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, lookAt, open, origin, pathsAsked, signedIn, world } from './setup.ts';

interface Answer {
  readonly rows: readonly (Readonly<Record<string, unknown>> & { readonly clicks: number })[];
  readonly paging: { readonly total: number };
}

/** The page of somebody who is signed in, with the answer of the API to what it asked last. */
async function explorer() {
  const context = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { page, problems } = await watchedPage(context, origin);
  let asked = '';
  page.on('request', (request) => {
    asked = pathsAsked(request.url()).find((path) => path.includes('/query?')) ?? asked;
  });
  const answer = async (): Promise<Answer> => {
    const headers = { authorization: `Bearer ${world.key}` };
    return (await (await fetch(`${origin}/api/v1${asked}`, { headers })).json()) as Answer;
  };
  const question = (): unknown => JSON.parse(new URL(asked, origin).searchParams.get('q')!);
  return { context, page, problems, answer, question };
}

/** The numbers of a column of the table, counted from 0 among columns of numbers. */
async function numbersOf(page: Page, column: number): Promise<number[]> {
  const rows = await page.locator('.answer .metric-table tbody tr').all();
  return Promise.all(
    rows.map(async (row) => {
      const text = await row.locator('td.number').nth(column).locator('.value').innerText();
      return Number(text.replaceAll(/\D/g, ''));
    }),
  );
}

/** Changes the question and waits for its answer. */
async function change(page: Page, by: () => Promise<unknown>): Promise<void> {
  const before = page.url();
  await by();
  await page.waitForURL((url) => url.href !== before);
  await settled(page);
}

t.test('a question by clicks, its rows, its chart and its address', async (t) => {
  const { context, page, problems, answer, question } = await explorer();
  await open(page, '/app/p/Proj1');
  await page.getByRole('link', { name: 'Explore' }).click();
  await page.getByRole('heading', { name: 'Explore' }).waitFor();
  await settled(page);
  t.equal(await page.locator('.answer canvas').count(), 1, 'days as a line');
  const days = (await answer()).rows;
  t.equal(days.length, 28);
  t.strictSame(
    await numbersOf(page, 0),
    days.map(({ clicks }) => clicks),
  );

  await change(page, () => page.getByLabel('Country', { exact: true }).check());
  await change(page, () => page.getByLabel('Query', { exact: true }).check());
  await change(page, () => page.getByLabel('Over time', { exact: true }).selectOption('month'));
  await change(page, () => page.getByLabel('CTR', { exact: true }).uncheck());
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Operator').selectOption('not starts_with');
  await page.getByLabel('Value').fill('=1+1');
  await change(page, () => page.getByRole('button', { name: 'Add', exact: true }).click());
  t.match(question(), {
    dimensions: ['month', 'country', 'query'],
    metrics: ['clicks', 'impressions', 'position'],
    filters: [['not', ['starts_with', 'query', ['=1+1']]]],
    limit: 1000,
  });
  const { rows } = await answer();
  t.ok(rows.length >= 4);
  t.strictSame(
    await numbersOf(page, 0),
    rows.map(({ clicks }) => clicks),
  );
  t.equal(await page.locator('thead th').count(), 6, 'a column for each dimension and number');
  t.equal(await page.locator('.answer figcaption .key-series').count(), 1, 'two lines');
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'explore-lines');

  await change(page, () => page.getByRole('link', { name: 'Clicks', exact: true }).click());
  t.match(question(), { sort: ['-clicks'] });
  t.strictSame(
    await numbersOf(page, 0),
    (await answer()).rows.map(({ clicks }) => clicks),
  );
  await change(page, () => page.getByRole('link', { name: 'walking boots' }).first().click());
  t.match(question(), {
    filters: [
      ['not', []],
      ['equals', 'query', ['walking boots']],
    ],
  });
  const address = page.url();
  await page.reload();
  await settled(page);
  t.match(await page.locator('main').innerText(), /query is walking boots/);
  t.strictSame(
    await numbersOf(page, 0),
    (await answer()).rows.map(({ clicks }) => clicks),
  );

  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByLabel('Name of this view').fill('Boots by month');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const link = page.getByRole('link', { name: 'Boots by month' });
  await link.waitFor();
  await page.keyboard.press('Escape');
  await open(page, '/app/p/Proj1');
  await page.getByRole('button', { name: 'Views' }).click();
  await link.click();
  await page.waitForURL(address);
  t.strictSame(problems, []);
  await context.close();
});

t.test('a refusal leads to the nearest questions', async (t) => {
  const { context, page, problems, question } = await explorer();
  // What browsers say of a refused question is no problem of the page.
  const others = () => problems.filter((problem) => !problem.includes('400'));
  await open(page, '/app/p/Proj1/explore?by=query&compare=none');
  await change(page, () => page.getByLabel('Device', { exact: true }).check());
  t.match(await page.locator('.refusal').innerText(), /query by device is not stored/);
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'explore-refusal');
  await change(page, () => page.locator('.refusal').getByRole('link', { name: 'Keyword by Device' }).click());
  t.match(question(), { dimensions: ['keyword', 'device'] });
  t.match(await page.locator('.answer').innerText(), 'Mobile');
  await open(page, '/app/p/Proj1/explore?by=keyword&compare=custom&cfrom=2020-01-01&cto=2020-01-28');
  await change(page, () => page.locator('.refusal').getByRole('link', { name: 'Without a comparison' }).click());
  t.equal(await page.locator('.answer tbody tr').count(), 2);
  for (const where of ['[["equals",5,7]]', '[["not",1]]', '[{}', '[["and"]]']) {
    await open(page, `/app/p/Proj1/explore?where=${encodeURIComponent(where)}`);
    t.equal(await page.locator('.question').count(), 1, `an address with ${where}`);
  }
  t.strictSame(others(), []);
  await context.close();
});

t.test('rows without time have bars, and files have all rows', async (t) => {
  const { context, page, problems, answer } = await explorer();
  await open(page, '/app/p/Proj1/explore?by=query,country&rows=50');
  const { rows } = await answer();
  t.equal(await page.locator('.answer .bar').count(), rows.length);
  await lookAt(t, page, 'explore-bars');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV of all rows' }).click(),
  ]);
  const lines = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  t.match(lines[0], /^\uFEFFquery,country,clicks,/);
  t.equal(lines.length, rows.length + 1);
  await page.getByRole('button', { name: 'Copy as…' }).click();
  await page.locator('.menu-item', { hasText: 'CSV' }).first().click();
  await page.getByText('CSV: copied').waitFor();
  const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
  t.notMatch(decodeURIComponent(text), 'limit');
  t.strictSame(problems, []);
  await context.close();
});
