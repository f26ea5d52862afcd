// Every table is saved as CSV and as a workbook, also lists by change, with the rows of the API.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { open, origin, signedIn } from './setup.ts';

/** Days of the world before today. */
const day = (before: number): string => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
const COMPARED = `?compare=custom&cfrom=${day(46)}&cto=${day(40)}`;

t.test('tables are saved as CSV and XLSX', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  for (const [path, heading] of [
    ['/app', 'id,domain,'],
    ['/app?marked=yes', 'id,domain,'],
    ['/app/p/Proj1/queries', 'query,clicks,'],
    [`/app/p/Proj1/queries${COMPARED}&change=up`, 'query,clicks,'],
    [`/app/p/Proj1/pages${COMPARED}&change=up`, 'url,clicks,'],
    ['/app/p/Proj1/keywords', 'id,query,'],
    [`/app/p/Proj1/keywords${COMPARED}&change=up`, 'id,query,'],
    ['/app/p/Proj1/breakdowns', 'kind,value,'],
    ['/app/p/Proj1/explain', 'page,clicks_now,'],
    ['/app/p/Proj1/alerts?status=all', 'id,'],
    ['/app/p/Proj1/notes', 'id,'],
  ] as const) {
    await open(page, path);
    if (path.includes('marked')) {
      await open(page, '/app');
      await page.getByRole('button', { name: 'Favourite: shop.example' }).first().click();
      await page.getByRole('button', { name: 'Favourites', exact: true }).click();
      await page.waitForURL(/marked=yes/);
      await settled(page);
    }
    const save = async (link: ReturnType<typeof page.getByRole>) => {
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const csv = await save(page.getByRole('link', { name: 'CSV of all rows' }));
    t.match(csv.name, /\.csv$/, path);
    if (path.endsWith('/explain')) {
      t.match(await page.getByRole('link', { name: 'CSV of all rows' }).getAttribute('href'), 'limit=1000');
    }
    const lines = csv.bytes.toString().split('\r\n');
    t.ok(lines[0]!.startsWith(`\ufeff${heading}`), `${path}: ${lines[0]}`);
    t.ok(lines.length > 2, `${path} has rows`);
    const workbook = await save(page.getByRole('button', { name: 'XLSX of all rows' }));
    t.equal(workbook.name, csv.name.replace('.csv', '.xlsx'), path);
    t.equal(workbook.bytes.subarray(0, 2).toString(), 'PK', path);
  }
  t.strictSame(problems, []);
  await context.close();
});

t.test('favourites come first in the list of projects', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app?sort=domain');
  const star = page.getByRole('button', { name: 'Favourite: syncing.example' });
  const first = (): Promise<string> => page.locator('tbody .project-name .text').first().innerText();
  t.not(await first(), 'syncing.example');
  await star.click();
  await page.locator('.star[aria-pressed=true]').first().waitFor();
  await open(page, '/app?sort=-domain');
  const names = await page.locator('tbody .project-name .text').allInnerTexts();
  t.strictSame(names.slice(0, 2).toSorted(), ['shop.example', 'syncing.example']);
  await page.getByRole('button', { name: 'Favourite: syncing.example' }).click();
  // Another project may have the same domain, and be no favourite.
  await page.getByRole('button', { name: 'Favourite: shop.example', pressed: true }).click();
  t.strictSame(problems, []);
  await context.close();
});
