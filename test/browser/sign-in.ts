import t from 'tap';
import { revokeKey } from '../../server/catalog/keys.ts';
import { createLink } from '../../server/catalog/sessions.ts';
import { createKey } from '../../server/operations/keys.ts';
import { watchedPage } from './browser.ts';
import { axeFindings, browser, catalog, lookAt, OWNER, onPage, origin, WIDE, world } from './setup.ts';

t.test('signing in with a key or a link, and out', async (t) => {
  const context = await browser.newContext({ viewport: WIDE });
  const { page, problems } = await watchedPage(context, origin);
  await page.goto(`${origin}/app/p/Proj1?period=3m`);
  await page.getByLabel('API key').fill(`ord_live_${'x'.repeat(32)}`);
  await lookAt(t, page, 'sign-in');
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.getByRole('button', { name: 'Sign in' }).click();
  t.match(await page.getByRole('alert').textContent(), 'unknown, expired or revoked');
  await page.getByLabel('API key').fill(world.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  t.equal(page.url(), `${origin}/app/p/Proj1?period=3m`, 'where one wanted to go');
  t.equal(await page.evaluate('document.cookie'), '', 'scripts do not see the cookie');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();

  const { token } = await createLink(catalog, {
    workspace: 'acme',
    who: { keyId: null, email: OWNER },
    at: Date.now() * 1000,
  });
  await page.goto(`${origin}/app/sign-in#${token}`);
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  t.notOk(page.url().includes(token), 'the secret is not left in the address');
  await page.goto(`${origin}/app/sign-in#${token}`);
  await page.getByText('You are signed in already').waitFor();
  await page.getByRole('button', { name: 'Use the link' }).click();
  t.match(await page.getByRole('alert').textContent(), 'already used');
  await page.getByRole('link', { name: 'Stay signed in' }).click();
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Not signed out').waitFor();
  await context.setOffline(false);
  t.strictSame(problems, []);
  await context.close();
});

onPage('a server that is busy for a moment signs nobody out', {}, async (t, page) => {
  const busy = { error: { code: 'unavailable', message: 'The server is busy.' } };
  await page.route('**/app/api/session', (route) => route.fulfill({ status: 503, json: busy }));
  await page.goto(`${origin}/app/p/Proj1`);
  await page.getByText('The server is busy.').waitFor();
  t.equal(await page.getByLabel('API key').count(), 0);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

t.test('a revoked key ends the session; signing in again goes on where one was', async (t) => {
  const made = await createKey(catalog, { workspace: 'acme', name: 'browser', at: 0 });
  const context = await browser.newContext({ viewport: WIDE });
  const { page } = await watchedPage(context, origin);
  await page.goto(`${origin}/app`);
  await page.getByLabel('API key').fill(made.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  await catalog.transaction((tx) => revokeKey(tx, made.id, 1));
  // A request of the first screen that is still under way may end the session before the click.
  const ended = page.getByText('Your session has ended');
  const project = page.locator('a.text[href="/app/p/Proj1"]');
  await Promise.any([project.click(), ended.waitFor()]);
  await ended.waitFor();
  const where = page.url();
  await page.getByLabel('API key').fill(world.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('API key').waitFor({ state: 'detached' });
  t.equal(page.url(), where);
  await context.close();
});
