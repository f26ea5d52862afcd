// What people are used to: lists begin at their top, back leads to where one was, an upgrade says so, colours stay.
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, HUGE, NARROW, onPage, open, origin, SHIFTS, signedIn, world } from './setup.ts';

const ARABIC = 'أحذية المشي';

/** Makes the list of queries longer than a page: answers of the API with other rows. */
const LONG_LIST = `const ask = window.fetch;
window.fetch = async (path, init) => {
  const isList = String(path).includes('/projects/Proj1/queries?');
  const asked = new URL(path, location.origin);
  const offset = Number(asked.searchParams.get('offset') ?? 0);
  if (isList) asked.searchParams.delete('offset');
  const response = await ask(isList ? asked : path, init);
  if (!isList) return response;
  const answer = await response.json();
  const rowOf = (_, index) => ({ ...answer.queries[0], query: index === 0 ? '${ARABIC}' : 'query ' + (offset + index) });
  const queries = Array.from({ length: answer.paging.limit }, rowOf);
  return Response.json({ ...answer, queries, paging: { ...answer.paging, offset, total: 500 } });
};`;

onPage('the next page begins at its top; back leads to the row that was left', {}, async (t, page) => {
  await page.addInitScript(LONG_LIST);
  await open(page, '/app/p/Proj1/queries?compare=none');
  const top = () => page.evaluate('scrollY') as Promise<number>;
  const next = page.locator('a[rel=next]');
  await next.scrollIntoViewIfNeeded();
  const before = await top();
  t.ok(before > 200, 'the list is longer than the window');
  await next.click();
  await page.waitForURL(/offset=/);
  await page.getByText('query 51', { exact: true }).waitFor();
  t.equal(await top(), 0);
  await page.goBack();
  await page.getByText('query 1', { exact: true }).waitFor();
  await page.waitForFunction(`Math.abs(scrollY - ${before}) < 2`);
  const directionOf = (text: string) =>
    page.evaluate(`getComputedStyle([...document.querySelectorAll('.row-name [dir], .row-name[dir]')]
      .find((element) => element.textContent.includes(${JSON.stringify(text)}))).direction`);
  t.strictSame([await directionOf(ARABIC), await directionOf('query 2')], ['rtl', 'ltr']);
});

onPage(
  'a call is copied, and gives what is shown',
  { permissions: ['clipboard-read', 'clipboard-write'] },
  async (t, page) => {
    await open(page, '/app/p/Proj1/queries?search=boots');
    await page.getByRole('button', { name: 'Copy as…' }).click();
    await page.getByRole('button', { name: /^curl/ }).click();
    await page.getByText('curl: copied').waitFor();
    const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
    t.match(text, /^curl -H "Authorization: Bearer \$ORDINATE_KEY" '/);
    const answer = await fetch(/'(http[^']+)'/.exec(text)![1]!, { headers: { authorization: `Bearer ${world.key}` } });
    t.match(await answer.json(), { queries: [{ query: 'walking boots' }], paging: { total: 1 } });
  },
);

onPage('colours are chosen and kept; ? lists the shortcuts', { colorScheme: 'light' }, async (t, page) => {
  await open(page, '/app');
  await page.getByRole('button', { name: 'Colours: system' }).click();
  await page.getByRole('button', { name: 'Colours: light' }).click();
  await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  await page.reload();
  await settled(page);
  t.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

t.test('without a network, and after an upgrade, a screen that was not loaded yet says so and goes on', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  await context.setOffline(true);
  await page.getByRole('link', { name: 'Breakdowns', exact: true }).first().click();
  await page.getByText('This screen could not be shown').waitFor();
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await open(page, '/app/p/Proj1');
  await page.route('**/*.js', (route) => route.fulfill({ status: 404 }));
  // The new version's page names other scripts.
  await page.route(`${origin}/app`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(/main[^"]*\.js/g, 'other.js') });
  });
  await page.getByRole('link', { name: 'Breakdowns', exact: true }).first().click();
  await page.getByText('A new version is there').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  t.match(page.url(), /breakdowns/);
  await context.close();
});

onPage(
  'on a phone a name and its position, and the button of a key, are in view; fields are not enlarged',
  { viewport: NARROW },
  async (t, page) => {
    await open(page, '/app/p/Proj1/queries');
    const row = page.locator('tbody tr').first();
    const parts = [row.locator('th'), row.locator('td').last()];
    const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
    const sizes = (await page.evaluate(
      `[...document.querySelectorAll('input, select')].map((each) => parseFloat(getComputedStyle(each).fontSize))`,
    )) as number[];
    t.strictSame(
      sizes.filter((size) => size < 16),
      [],
    );
    await open(page, '/app/keys');
    boxes.push(await page.locator('tbody tr').first().getByRole('button').boundingBox());
    for (const box of boxes) t.ok(box!.x >= 0 && box!.x + box!.width <= NARROW.width, 'within the window');
  },
);

onPage('whichever part of Data is answered last, nothing moves', { viewport: HUGE }, async (t, page) => {
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
    await settled(page);
    t.ok(((await page.evaluate('window.shifts')) as number) < 0.01, `${late} last`);
    await page.unrouteAll();
  }
});

onPage('a report prints without controls', {}, async (t, page) => {
  await open(page, '/app/p/Proj1/report');
  await page.emulateMedia({ media: 'print' });
  t.notOk(await page.getByLabel('Month', { exact: true }).isVisible());
  t.ok(await page.locator('.metrics').isVisible());
});
