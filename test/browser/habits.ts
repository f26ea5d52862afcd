// What people are used to: lists begin at their top, back leads to where one was, an upgrade says so, all scripts are read.
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { open, origin, signedIn } from './setup.ts';

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

t.test('the next page begins at its top; back leads to the row that was left', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
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
  t.equal(await directionOf(ARABIC), 'rtl');
  t.equal(await directionOf('query 2'), 'ltr');
  t.strictSame(problems, []);
  await context.close();
});

t.test('a project whose first days are on their way is not told to connect', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Sync1/data');
  await page.getByRole('heading', { name: 'The first days are on their way' }).waitFor();
  t.equal(await page.getByRole('main').getByText('Connect it').count(), 0);
  await context.close();
});

t.test('a page that was opened before an upgrade says so, and goes on after a reload', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
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
  await settled(page);
  t.match(page.url(), /breakdowns/);
  await context.close();
});
