// What an owner does without a shell: connect a property, write notes, have others told.
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Page } from 'playwright-core';
import t from 'tap';
import { ensureDashboard } from '../../cli/dashboard.ts';
import { connectedTeam } from '../dashboard/connected-team.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { settled, watchedPage } from './browser.ts';
import { browser, lookAt, seriousFindings, WIDE } from './setup.ts';

/** A port that nothing listens on, for the redirect URI that must be known before the server starts. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => void server.close(() => done()));
  return port;
}

await ensureDashboard();
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const team = await connectedTeam(t, {
  environment: { ORDINATE_PUBLIC_URL: origin, ORDINATE_DELIVERY_LOOPBACK: 'on' },
});
await team.app.listen({ host: '127.0.0.1', port });

/** Google's own pages are elsewhere. */
const others = (problems: readonly string[]): string[] =>
  problems.filter((problem) => !problem.startsWith(`foreign request: ${team.google.origin}/`));

/** A page of a member, and what must not happen on it. */
async function pageOf(who: 'owner' | 'admin' | 'member'): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: WIDE });
  t.teardown(() => context.close());
  const [name = '', value = ''] = team.cookies.get(who)!.split('=');
  const cookie = { domain: '127.0.0.1', path: '/app', httpOnly: true, sameSite: 'Strict' } as const;
  await context.addCookies([{ name, value, ...cookie }]);
  return watchedPage(context, origin);
}

const open = async (page: Page, path: string): Promise<void> => {
  await page.goto(origin + path);
  await settled(page);
};

t.test('an owner connects an account of Google and makes a project of a property', async (t) => {
  team.google.sites.set('sc-domain:fresh.example', 'siteOwner');
  team.google.sites.set('sc-domain:shop.example', 'siteFullUser');
  const { page, problems } = await pageOf('owner');
  await open(page, '/app/connect');
  t.match(await page.locator('code.command').innerText(), `${origin}/app/connect/google/callback`);
  await lookAt(t, page, 'connect-empty');
  team.google.decision = { answer: 'access_denied' };
  await page.getByRole('button', { name: 'Connect a Google account' }).click();
  await page.getByText('Access was not granted at Google').waitFor();
  team.google.decision = { answer: 'allow', refreshTokenExpiresIn: 604_799 };
  await page.getByRole('button', { name: 'Connect a Google account' }).click();
  await page.waitForURL(/grant=/);
  await page.getByText('Choose below what Ordinate keeps').waitFor();
  await page.getByText(/consent screen is in testing/).waitFor();
  await page.getByRole('button', { name: 'Create a project of sc-domain:fresh.example' }).click();
  await page.getByLabel('Brand terms').fill('fresh\nfresh & co');
  await page.getByLabel('Country').fill('xx');
  await page.getByLabel('Tracked queries').selectOption('queries');
  await page.getByLabel('Queries', { exact: true }).fill('fresh boots\nwalking boots');
  await settled(page);
  await lookAt(t, page, 'connect-project');
  t.strictSame(await seriousFindings(page), [], 'axe');
  await page.getByRole('button', { name: 'Create and fill it' }).click();
  const country = page.getByLabel('Country');
  await page.locator('[aria-invalid=true]').waitFor();
  t.equal(await country.getAttribute('aria-invalid'), 'true', 'what is wrong is said at the field');
  t.equal(await page.getByLabel('Brand terms').inputValue(), 'fresh\nfresh & co', 'what was typed stays');
  await country.fill('gbr');
  await page.getByRole('button', { name: 'Create and fill it' }).click();
  await page.waitForURL(/\/app\/p\/\w{5}\/data/);
  const [, id] = /\/p\/(\w{5})\//.exec(page.url())!;
  const { body } = await team.read(`/projects/${id}`);
  t.match(body.project, { domain: 'fresh.example', country: 'gbr', syncStatus: 'pending' });
  t.strictSame(others(problems), []);
});

t.test('a channel is added, tested, looked at, disabled and removed', async (t) => {
  const receiver = await startReceiver(t);
  const { page, problems } = await pageOf('admin');
  await open(page, '/app/channels');
  await page.getByRole('button', { name: 'Add a channel' }).click();
  await page.getByLabel('Kind').selectOption('webhook');
  await page.getByLabel('Address').fill('http://10.0.0.1/hook');
  await lookAt(t, page, 'channels-new');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  t.equal(await page.getByLabel('Address').inputValue(), 'http://10.0.0.1/hook', 'kept');
  await page.getByLabel('Address').fill(`${receiver.origin}/hook`);
  await page.getByLabel('Name').fill('Deploys');
  await page.getByLabel('Digest of each week').check();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  t.match(await page.locator('.notice code').innerText(), /^whsec_/);
  await page.getByRole('button', { name: 'Test Deploys' }).click();
  await page.getByText('The test was accepted.').waitFor();
  t.equal(receiver.received.length, 1);
  receiver.answers = [503];
  await page.getByRole('button', { name: 'Test Deploys' }).click();
  await page.getByText('The test was not accepted: 503').waitFor();
  await page.getByRole('button', { name: 'Show deliveries' }).click();
  await settled(page);
  t.equal(await page.locator('.deliveries tbody tr').count(), 2);
  await lookAt(t, page, 'channels');
  t.strictSame(await seriousFindings(page), [], 'axe');
  await page.getByRole('button', { name: 'Disable Deploys' }).click();
  await page.getByRole('button', { name: 'Enable Deploys' }).waitFor();
  const remove = page.getByRole('button', { name: 'Remove' });
  await remove.click();
  await page.getByRole('button', { name: 'Remove for good' }).click();
  await page.getByText('Nobody is told yet').waitFor();
  t.strictSame(others(problems), []);
});

t.test('a note is added, changed and removed; members change only their own', async (t) => {
  const { page, problems } = await pageOf('owner');
  await open(page, '/app/p/Proj1/notes');
  await page.getByRole('button', { name: 'Add a note' }).click();
  await page.getByLabel('Day', { exact: true }).fill('2026-03-02');
  await page.getByLabel('Last day, of a range').fill('2026-03-01');
  await page.getByLabel('Category').last().selectOption('launch');
  await page.getByLabel('What happened').fill('New shop <b>bold</b>');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  t.equal(await page.getByLabel('Last day, of a range').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Last day, of a range').fill('2026-03-04');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('New shop <b>bold</b>').waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('What happened').fill('New shop, at last');
  await lookAt(t, page, 'notes-edit');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('New shop, at last').waitFor();
  t.match((await team.read('/projects/Proj1/notes')).body.notes, [
    {
      date: '2026-03-02',
      endDate: '2026-03-04',
      category: 'launch',
      text: 'New shop, at last',
      author: 'owner@acme.example',
    },
  ]);

  const other = await pageOf('member');
  await open(other.page, '/app/p/Proj1/notes');
  await other.page.getByText('New shop, at last').waitFor();
  t.equal(await other.page.getByRole('button', { name: 'Edit' }).count(), 0, 'of somebody else');
  for (const name of ['Connect', 'Channels', 'Keys']) {
    t.equal(await other.page.getByRole('link', { name, exact: true }).count(), 0, `a member has no ${name}`);
  }
  await open(other.page, '/app/channels');
  await other.page.getByText('Only owners and admins manage channels').waitFor();
  t.strictSame(others(other.problems), []);

  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove for good' }).click();
  await page.getByText('No notes yet').waitFor();
  t.strictSame((await team.read('/projects/Proj1/notes')).body.notes, []);
  t.strictSame(others(problems), []);
});
