// What people do with the dashboard: filter by texts, type days, go back, lose the network.
import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { open, origin, signedIn } from './setup.ts';

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
  await page.getByText('Data ends on').waitFor();
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

t.test('a search and a period that follow each other at once both count', async (t) => {
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/queries');
  await page.getByLabel('Search in query').fill('boots');
  await page.getByLabel('Period', { exact: true }).selectOption('7d');
  await page.waitForURL(/search=boots/);
  t.match(page.url(), 'period=7d');
  await context.close();
});
