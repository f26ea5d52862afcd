// Tests of the dashboard in a real Chromium: `npm run test:browser` runs them, `npm test` does not.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import t from 'tap';
import { createKey, revokeKey } from '../../server/catalog/keys.ts';
import { createLink, createSession } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { CHROMIUM, launch, settled, takeShot, watchedPage } from './browser.ts';
import { ATTACK, startDashboard } from './world.ts';

if (CHROMIUM === undefined) {
  console.log('Chromium is missing: the tests in the browser were not run. Install it (apt-get install chromium).');
  process.exit(0);
}
t.setTimeout(900_000);

const OWNER = 'owner@acme.example';
const SCREENS = ['', '/queries', '/pages', '/keywords', '/breakdowns', '/alerts', '/notes', '/data'];
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 844 };

const world = await startDashboard(t);
const { origin, catalog } = world;
await addMember(catalog, 'acme', OWNER, 'owner');
const browser: Browser = await launch();
t.teardown(() => browser.close());

/** A browser of somebody who is signed in: an owner with a session, and a limit of requests, of their own. */
async function signedIn(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const who = { keyId: null, email: OWNER };
  const { token } = await createSession(catalog, { workspace: 'acme', who, at: Date.now() * 1000 });
  await context.addCookies([
    { name: 'ordinate', value: token, domain: '127.0.0.1', path: '/app', httpOnly: true, sameSite: 'Strict' },
  ]);
  return context;
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(origin + path);
  await settled(page);
}

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(`${axe.source};undefined`);
  const found = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`)) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 2).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
}

/** How much wider the page is than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

t.test('each screen, for a project in each state', async (t) => {
  for (const project of ['Proj1', 'Empty', 'Sync1', 'Fail1']) {
    const context = await signedIn();
    const { page, problems } = await watchedPage(context, origin);
    for (const screen of SCREENS) {
      const name = `${project}${screen.replace('/', '-')}`;
      await open(page, `/app/p/${project}${screen}`);
      t.ok((await page.locator('h1').textContent())?.trim(), `${name} has a title`);
      t.ok(((await page.locator('main').innerText()).length ?? 0) > 80, `${name} says something`);
      t.equal(await overflow(page), 0, `${name} fits`);
      t.strictSame(await seriousFindings(page), [], `${name}: axe`);
      await takeShot(page, `${name}-1440`);
    }
    t.strictSame(problems, [], project);
    await context.close();
  }
});

t.test('on a phone, and in the dark', async (t) => {
  const context = await signedIn({ viewport: NARROW, colorScheme: 'dark' });
  const { page, problems } = await watchedPage(context, origin);
  for (const path of [
    '/app',
    ...SCREENS.map((screen) => `/app/p/Proj1${screen}`),
    '/app/p/Proj1/keywords/Kw001',
    '/app/keys',
  ]) {
    await open(page, path);
    t.equal(await overflow(page), 0, `${path} fits`);
    t.strictSame(await seriousFindings(page), [], `${path}: axe`);
    await takeShot(page, `phone${path.replaceAll('/', '-')}`);
  }
  t.strictSame(problems, []);
  await context.close();
});

t.test('signing in with a key or a link, and out', async (t) => {
  const context = await browser.newContext({ viewport: WIDE });
  const { page, problems } = await watchedPage(context, origin);
  await page.goto(`${origin}/app/p/Proj1?period=3m`);
  await page.getByLabel('API key').fill(`ord_live_${'x'.repeat(32)}`);
  await takeShot(page, 'sign-in');
  t.strictSame(await seriousFindings(page), [], 'axe');
  await page.getByRole('button', { name: 'Sign in' }).click();
  t.match(await page.getByRole('alert').textContent(), 'unknown or revoked');
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
  t.match(await page.getByRole('alert').textContent(), 'already used');
  t.strictSame(problems, []);
  await context.close();
});

t.test('a revoked key ends the session; signing in again goes on where one was', async (t) => {
  const made = await createKey(catalog, { workspace: 'acme', name: 'browser', by: null, at: 0 });
  const context = await browser.newContext({ viewport: WIDE });
  const { page } = await watchedPage(context, origin);
  await page.goto(`${origin}/app`);
  await page.getByLabel('API key').fill(made.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  await revokeKey(catalog, { id: made.id, workspace: 'acme', by: null, at: 1 });
  // A request of the first screen that is still under way may end the session before the click.
  const ended = page.getByText('Your session has ended');
  await Promise.any([page.getByRole('link', { name: 'shop.example', exact: true }).click(), ended.waitFor()]);
  await ended.waitFor();
  const where = page.url();
  await page.getByLabel('API key').fill(world.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('API key').waitFor({ state: 'detached' });
  t.equal(page.url(), where);
  await context.close();
});

t.test('pages of other origins can neither read nor change anything', async (t) => {
  const elsewhere = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Elsewhere</h1>'),
  );
  await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
  t.teardown(() => elsewhere.close());
  const { port } = elsewhere.address() as AddressInfo;
  const context = await signedIn();
  const page = await context.newPage();
  for (const host of ['127.0.0.1', 'localhost']) {
    await page.goto(`http://${host}:${port}/`);
    const tries = (await page.evaluate(`(async () => {
      const send = (path, init) => fetch('${origin}' + path, { credentials: 'include', ...init }).then((r) => r.type + r.status, () => 'refused');
      return [
        await send('/app/api/projects', {}),
        await send('/app/api/projects', { mode: 'no-cors' }),
        await send('/app/api/keys', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{"name":"evil"}' }),
        await send('/app/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"evil"}' }),
        await send('/app/api/session', { method: 'DELETE' }),
      ];
    })()`)) as string[];
    t.strictSame(new Set(tries), new Set(['refused', 'opaque0']), host);
    await page.setContent(
      `<form method="post" action="${origin}/app/api/keys"><input name="name" value="evil"></form>`,
    );
    await page.evaluate('document.forms[0].submit()');
    await page.waitForLoadState();
    t.match(await page.locator('body').textContent(), 'forbidden', 'a form');
  }
  const names = (await catalog.statements.all<{ name: string }>('keys_of_workspace', { workspace: 'acme' })).map(
    ({ name }) => name,
  );
  t.notOk(names.includes('evil'));
  await open(page, '/app');
  t.ok(await page.getByRole('heading', { name: 'Projects' }).isVisible(), 'still signed in');
  const framed = await context.newPage();
  await framed.goto(`http://127.0.0.1:${port}/`);
  await framed.setContent(`<iframe src="${origin}/app"></iframe>`);
  await framed.waitForTimeout(500);
  t.match(framed.frames()[1]?.url(), /^chrome-error:/, 'no page may frame it');
  await context.close();
});

t.test('no text of a snapshot becomes markup', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  const paths = [
    '/app',
    ...SCREENS.map((screen) => `/app/p/Proj1${screen}`),
    '/app/p/Proj1/keywords/Kw002',
    '/app/p/Proj1/alerts?alert=00000000-0000-4000-8000-000000000001',
    '/app/p/Evil1',
    `/app/p/Proj1/queries?search=${encodeURIComponent(ATTACK)}&filter=${encodeURIComponent(`query:contains:${ATTACK}`)}`,
    `/app/p/${encodeURIComponent(ATTACK)}`,
    `/app/p/Proj1?metric=${encodeURIComponent(ATTACK)}&period=${encodeURIComponent(ATTACK)}`,
  ];
  for (const path of paths) {
    await open(page, path);
    const made = await page.evaluate(
      `document.querySelectorAll('img[onerror], img[src=x], main script, a[href^="javascript:" i]').length`,
    );
    t.equal(made, 0, path);
  }
  await open(page, '/app/p/Proj1/queries');
  t.ok(await page.getByText(ATTACK, { exact: true }).first().isVisible(), 'it is shown as it is written');
  t.strictSame(problems, []);
  await context.close();
});

t.test('the view is in the address; keys and controls change it', async (t) => {
  const context = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  await page.getByText('Impressions', { exact: true }).first().click();
  await page.getByLabel('Period').selectOption('3m');
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
