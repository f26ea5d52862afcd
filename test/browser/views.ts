import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { open, origin, pathsAsked, SCREENS, signedIn, world } from './setup.ts';

t.test('the view is in the address; keys and controls change it', async (t) => {
  const context = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  await page.getByText('Impressions', { exact: true }).first().click();
  await page.getByLabel('Period', { exact: true }).selectOption('3m');
  await settled(page);
  t.equal(page.url(), `${origin}/app/p/Proj1?metric=impressions&period=3m`);
  await page.getByRole('button', { name: 'Table' }).click();
  t.ok((await page.locator('.chart-table tbody tr').count()) > 80, 'the chart as a table');
  await page.keyboard.press('Escape');
  await page.locator('h1').click();
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await page.getByRole('heading', { name: 'Queries' }).waitFor();
  t.match(page.url(), /\/queries\?period=3m$/, 'the range goes along');
  await settled(page);
  await page.keyboard.press('/');
  await page.keyboard.type('boots');
  await page.waitForURL(/search=boots/);
  await settled(page);
  t.equal(await page.locator('tbody tr').count(), 1);
  await page.getByRole('link', { name: 'Position' }).click();
  await page.waitForURL(/sort=position/);
  await page.goBack();
  t.notMatch(page.url(), 'sort=');
  await settled(page);

  await page.getByRole('button', { name: 'Copy as…' }).click();
  await page.getByRole('button', { name: /^curl/ }).click();
  await page.getByText('curl: copied').waitFor();
  const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
  t.match(text, /^curl -H "Authorization: Bearer \$ORDINATE_KEY" '/);
  const answer = await fetch(/'(http[^']+)'/.exec(text)![1]!, { headers: { authorization: `Bearer ${world.key}` } });
  t.equal(answer.status, 200);
  t.equal(((await answer.json()) as { queries: unknown[] }).queries.length, 1, 'the call gives what is shown');
  await page.keyboard.press('Escape');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV of all rows' }).click(),
  ]);
  t.match(download.suggestedFilename(), /\.csv$/);
  t.strictSame(problems, []);
  await context.close();
});

t.test('every view gives the call behind it', async (t) => {
  const context = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { page, problems } = await watchedPage(context, origin);
  for (const path of ['/app', ...[...SCREENS, '/keywords/Kw002'].map((screen) => `/app/p/Proj1${screen}`)]) {
    await open(page, path);
    await page.getByRole('button', { name: 'Copy as…' }).click();
    for (const name of path.endsWith('/data') ? ['curl'] : ['curl', 'CSV', 'pandas', 'Sheets']) {
      await page.locator('.menu-item', { hasText: name }).first().click();
      await page.getByText(`${name}: copied`).waitFor();
      const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
      const answer = await fetch(/'(http[^']+)'/.exec(text)![1]!, {
        headers: { authorization: `Bearer ${world.key}` },
      });
      t.equal(answer.status, 200, `${path}: ${name}`);
      t.match(answer.headers.get('content-type'), name === 'curl' ? 'application/json' : 'text/csv');
      if (name !== 'curl' || !path.endsWith('Kw002')) continue;
      const { keywords } = (await answer.json()) as { keywords: { id: string; daily: unknown[] }[] };
      t.strictSame(
        keywords.map(({ id }) => id),
        ['Kw002'],
        'this keyword alone',
      );
      t.equal(keywords[0]!.daily.length, 28, 'with its days');
    }
  }
  t.strictSame(problems, []);
  await context.close();
});

t.test('projects come in one request, which searches, filters and sorts them', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  const asked: string[] = [];
  page.on('request', (request) => {
    asked.push(...pathsAsked(request.url()));
  });
  await open(page, '/app');
  // Their names, too, where the server takes long.
  t.strictSame(asked.filter((path) => path !== '/projects').toSorted(), [
    '/home',
    '/portfolio-totals?to=final&compare=previous&sort=-clicks',
    '/portfolio?to=final&compare=previous&sort=-clicks&daily=1&limit=50',
    '/session',
  ]);
  t.equal(await page.locator('tbody .project-name').count(), 5);
  t.ok((await page.locator('tbody .sparkline .line').count()) > 0, 'their days');
  await page.getByLabel('Sync', { exact: true }).selectOption('failed');
  await page.waitForURL(/state=failed/);
  await settled(page);
  t.strictSame(await page.locator('tbody .project-name .text').allInnerTexts(), ['failing.example']);
  await page.getByLabel('Sync', { exact: true }).selectOption('');
  await page.keyboard.press('Escape');
  await page.locator('h1').click();
  await page.keyboard.press('/');
  await page.keyboard.type('syncing');
  await page.waitForURL(/search=syncing/);
  await settled(page);
  t.strictSame(await page.locator('tbody .project-name .text').allInnerTexts(), ['syncing.example']);
  await page.getByRole('link', { name: 'syncing.example' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  t.strictSame(problems, []);
  await context.close();
});
