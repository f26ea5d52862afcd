// What an owner does without a shell: connect a property, write notes, have others told.
import type { Page } from 'playwright-core';
import t from 'tap';
import { ensureDashboard } from '../../cli/dashboard.ts';
import { eachDay } from '../../server/domain/dates.ts';
import { connectedTeam } from '../dashboard/connected-team.ts';
import { fakeBing } from '../fakes/bing.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { freePort } from '../free-port.ts';
import { facts, keyword } from '../world.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, browser, lookAt, WIDE } from './setup.ts';

await ensureDashboard();
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const DAYS = eachDay('2025-12-01', '2026-03-10');
const GAP = '2026-03-05';
const PAGE = 'https://shop.example/boots';
const bing = await fakeBing(t, '2026-03-15');
const team = await connectedTeam(t, {
  tables: {
    keywords: [keyword('Kw001', 'walking boots'), keyword('Kw002', 'running shoes')],
    site_daily: facts(
      'date device',
      ...DAYS.filter((day) => day !== GAP).map((day, index) => [day, 'mobile', 20 + (index % 9), 400, 900]),
    ),
    keyword_daily: facts('keyword_id date device', ...DAYS.map((day) => ['Kw001', day, 'mobile', 5, 60, 200])),
  },
  environment: { ORDINATE_PUBLIC_URL: origin, ORDINATE_DELIVERY_LOOPBACK: 'on', ORDINATE_BING_ENDPOINT: bing.url },
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
  t.match(await page.locator('code.command').first().innerText(), `${origin}/app/connect/google/callback`);
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
  t.strictSame(await axeFindings(page), [], 'axe');
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

t.test('an admin connects a project to Bing by a key, replaces it, and removes the connection', async (t) => {
  bing.sites.push({ url: 'https://shop.example/', isVerified: true });
  const { page, problems } = await pageOf('admin');
  await open(page, '/app/connect');
  const form = page.getByRole('region', { name: 'Bing Webmaster Tools' });
  await form.getByLabel('Project').selectOption('Proj1');
  await form.getByLabel('API key of Bing').fill('another-key-0123456789');
  await form.getByRole('button', { name: 'Connect Bing' }).click();
  await form.locator('[aria-invalid=true]').waitFor();
  t.match(await form.getByRole('alert').innerText(), /Create an API key/);
  await lookAt(t, page, 'connect-bing-refused');
  await form.getByLabel('API key of Bing').fill(bing.key);
  await form.getByRole('button', { name: 'Connect Bing' }).click();
  await form.getByText('Bing can read https://shop.example/').waitFor();
  const item = page.getByRole('list', { name: 'Connections to Bing' });
  // Nothing leads the sync of this project.
  await item.getByText('waits for Google', { exact: true }).waitFor();
  await item.getByRole('button', { name: 'Replace key' }).click();
  await settled(page);
  await lookAt(t, page, 'connect-bing');
  t.strictSame(await axeFindings(page), [], 'axe');
  await item.getByLabel('API key of Bing').fill(bing.key);
  await item.getByRole('button', { name: 'Replace the key' }).click();
  await item.getByRole('button', { name: 'Replace key' }).waitFor();
  t.notMatch(await page.content(), bing.key);
  const asked = bing.requests.length;
  await open(page, '/app/p/Proj1/data');
  const crawler = page.getByRole('region', { name: "Bing's crawler" });
  await crawler.locator('summary').waitFor();
  t.equal(bing.requests.length, asked, 'nothing is asked before it is opened');
  await crawler.locator('summary').click();
  await crawler.getByText(/told nothing of it yet/).waitFor();
  bing.crawls.push({ url: PAGE, at: '2026-03-10T08:00:00-07:00', status: 404, size: 512 });
  await open(page, `/app/p/Proj1/pages/one?of=${encodeURIComponent(PAGE)}`);
  await crawler.locator('summary').click();
  await crawler.getByText(/Last crawled on .*, with status 404, 512 bytes/).waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'crawler');
  await open(page, '/app/connect');
  await item.getByRole('button', { name: 'Remove' }).click();
  await item.getByRole('button', { name: 'Disconnect and keep the data' }).click();
  await item.waitFor({ state: 'detached' });
  t.strictSame(
    others(problems).filter((problem) => !problem.includes('400')),
    [],
  );
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
  await page.getByLabel('Name', { exact: true }).fill('Deploys');
  const hears = page.getByRole('group', { name: 'Events' });
  for (const box of await hears.getByRole('checkbox').all()) await box.uncheck();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await hears.getByRole('alert').waitFor();
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
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.getByRole('button', { name: 'Disable Deploys' }).click();
  await page.getByRole('button', { name: 'Enable Deploys' }).waitFor();
  const remove = page.getByRole('button', { name: 'Remove' });
  await remove.click();
  await page.getByRole('button', { name: 'Remove for good' }).click();
  await page.getByText('Nobody is notified yet').waitFor();
  t.strictSame(others(problems), []);
});

t.test('a note is added, changed and removed; members change only their own', async (t) => {
  const { page, problems } = await pageOf('owner');
  await open(page, '/app/p/Proj1/notes');
  await page.getByRole('button', { name: 'Add a note' }).click();
  await page.getByLabel('Day', { exact: true }).fill('2026-03-02');
  await page.getByLabel('Last day of a range').fill('2026-03-01');
  await page.getByLabel('Category').last().selectOption('launch');
  await page.getByLabel('What happened').fill('New shop <b>bold</b>');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  t.equal(await page.getByLabel('Last day of a range').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Last day of a range').fill('2026-03-04');
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

t.test('brand terms, groups, page groups and rules are looked at before they are saved', async (t) => {
  const { page, problems } = await pageOf('admin');
  await open(page, '/app/p/Proj1/settings');
  await lookAt(t, page, 'settings');
  t.strictSame(await axeFindings(page), [], 'axe');

  await page.getByLabel('Terms', { exact: true }).fill('acme\nword: bot');
  await page.getByRole('button', { name: 'Show what changes' }).click();
  await page.getByText(/would count as brand/).waitFor();
  await page.getByRole('region', { name: 'Brand terms' }).getByRole('button', { name: 'Save' }).click();
  await page.getByText(/would count as brand/).waitFor({ state: 'detached' });
  await page.reload();
  await settled(page);
  t.equal(await page.getByLabel('Terms', { exact: true }).inputValue(), 'acme\nword: bot');

  const groups = page.getByRole('region', { name: 'Groups of keywords' });
  await page.getByRole('button', { name: 'Add a group' }).click();
  await groups.getByLabel('Name', { exact: true }).fill('Boots');
  await groups.getByLabel('Value', { exact: true }).fill('boots');
  await groups.getByRole('button', { name: 'Show what it selects' }).click();
  await groups.getByText('1 member').waitFor();
  await groups.getByText('walking boots').waitFor();
  await lookAt(t, page, 'settings-group');
  await groups.getByRole('button', { name: 'Add', exact: true }).click();
  await groups.getByText('query contains boots').waitFor();
  await page.getByRole('button', { name: 'Add a group' }).click();
  await groups.getByLabel('Name', { exact: true }).fill('Low CTR');
  await groups.getByLabel('Field').selectOption('ctr');
  await groups.getByLabel('Operator').selectOption('lte');
  await groups.getByLabel('Value in percent').pressSequentially('2.3');
  await groups.getByRole('button', { name: 'Add', exact: true }).click();
  await groups.getByText('CTR at most 2.3%').waitFor();
  await page.getByRole('button', { name: 'Add a group' }).click();
  await groups.getByLabel('Name', { exact: true }).fill('By hand');
  await groups.getByLabel('Kind').selectOption('manual');
  await groups.getByLabel('running shoes').check();
  await groups.getByRole('button', { name: 'Add', exact: true }).click();
  await groups.getByText('1 keyword').waitFor();
  const { body: stored } = await team.read('/projects/Proj1/groups');
  t.match(stored.groups, [
    {
      name: 'Boots',
      kind: 'rule',
      rule: { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'boots' }] },
    },
    { name: 'Low CTR', rule: { conditions: [{ field: 'ctr', op: 'lte', value: 0.023 }] } },
    { name: 'By hand', kind: 'manual', keywordIds: ['Kw002'] },
  ]);

  const pages = page.getByRole('region', { name: 'Groups of pages' });
  await page.getByRole('button', { name: 'Add a page group' }).click();
  await pages.getByLabel('Name', { exact: true }).fill('Blog');
  await pages.getByLabel('Value', { exact: true }).fill('/blog/');
  await pages.getByRole('button', { name: 'Add', exact: true }).click();
  await pages.getByText('path begins with /blog/').waitFor();

  const rules = page.getByRole('region', { name: 'Alert rules' });
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await rules.getByLabel('Name', { exact: true }).fill('Fewer clicks');
  await rules.getByLabel('Value', { exact: true }).fill('0');
  await rules.getByRole('button', { name: 'Add', exact: true }).click();
  await rules.locator('[aria-invalid=true]').waitFor();
  t.equal(await rules.getByLabel('Value', { exact: true }).getAttribute('aria-invalid'), 'true');
  await rules.getByLabel('Value', { exact: true }).fill('20');
  await rules.getByRole('button', { name: 'Test over the last year' }).click();
  await rules.getByText(/^\d+ alerts? from/).waitFor();
  await settled(page);
  await lookAt(t, page, 'settings-rule');
  t.strictSame(await axeFindings(page), [], 'axe');
  await rules.getByRole('button', { name: 'Add', exact: true }).click();
  await rules.getByText(/falls by 20%/).waitFor();
  await rules.getByRole('button', { name: 'Edit Fewer clicks' }).click();
  await rules.getByLabel('Compared with').selectOption('value');
  await rules.getByLabel('Value', { exact: true }).fill('5');
  await rules.getByRole('button', { name: 'Save' }).click();
  await rules.getByText(/below 5;/).waitFor();
  await rules.getByRole('button', { name: 'Remove' }).click();
  await rules.getByRole('button', { name: 'Remove for good' }).click();
  await rules.getByText(/below 5;/).waitFor({ state: 'detached' });
  t.strictSame(others(problems), []);
});

t.test('queries are tracked, tagged and archived', async (t) => {
  const { page, problems } = await pageOf('admin');
  await open(page, '/app/p/Proj1/keywords');
  await page.getByRole('button', { name: 'Track queries' }).click();
  await page.getByLabel('Queries').fill('hiking socks\nwalking boots');
  await page.getByRole('button', { name: 'Track', exact: true }).click();
  await page.getByText('1 query is tracked from now on; 1 were tracked already.').waitFor();
  await page.getByRole('link', { name: 'walking boots' }).click();
  await page.getByRole('button', { name: 'Tags and target page' }).click();
  await page.getByLabel('Tags').fill('summer, boots');
  await page.getByLabel('Target page').fill('https://elsewhere.example/boots');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.keyword-head').getByText('summer').waitFor();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('button', { name: 'Stop tracking it; its days stay' }).click();
  await page.getByRole('heading', { name: 'Keywords' }).waitFor();
  await settled(page);
  t.equal(await page.getByRole('link', { name: 'walking boots' }).count(), 0);
  t.strictSame(others(problems), []);
});

t.test('a colleague is invited, signs in and gets another role; all of it is in the audit trail', async (t) => {
  const { page, problems } = await pageOf('owner');
  await open(page, '/app/members');
  await page.getByLabel('E-mail address').fill('new@acme.example');
  await page.getByLabel('Role', { exact: true }).selectOption('admin');
  await page.getByRole('button', { name: 'Invite' }).click();
  const link = await page.locator('.notice code').innerText();
  await page.getByRole('list', { name: 'Invitations' }).getByText('new@acme.example').waitFor();
  await lookAt(t, page, 'members');
  t.strictSame(await axeFindings(page), [], 'axe');
  const context = await browser.newContext({ viewport: WIDE });
  t.teardown(() => context.close());
  const other = await watchedPage(context, origin);
  await other.page.goto(link);
  await other.page.getByRole('heading', { name: 'Projects' }).waitFor();
  t.equal(await other.page.getByRole('link', { name: 'Members' }).count(), 1, 'an admin sees them');
  await open(page, '/app/members');
  await page.getByLabel('Role of new@acme.example').selectOption('member');
  await open(other.page, '/app');
  t.equal(await other.page.getByRole('link', { name: 'Members' }).count(), 0, 'from the next request');
  const item = page.getByRole('listitem').filter({ hasText: 'new@acme.example' });
  await item.getByRole('button', { name: 'Remove' }).click();
  await item.getByRole('button', { name: 'Remove from the workspace' }).click();
  await item.waitFor({ state: 'detached' });
  await open(other.page, '/app');
  await other.page.getByLabel('API key').waitFor();
  await open(page, '/app/audit');
  for (const what of ['invitation created', 'member removed', 'grant created']) {
    t.ok((await page.getByText(what, { exact: true }).count()) > 0, what);
  }
  await page.getByLabel('About').selectOption('invitation');
  t.equal(await page.getByText('member removed').count(), 0);
  await lookAt(t, page, 'audit');
  t.strictSame(await axeFindings(page), [], 'axe');
  t.strictSame(others(problems), []);
});

t.test('a link is shared, opened with its password, and revoked', async (t) => {
  const { page, problems } = await pageOf('admin');
  await open(page, '/app/p/Proj1/settings');
  const shares = page.getByRole('region', { name: 'Shared links' });
  await shares.getByRole('button', { name: 'Share' }).click();
  const shown = shares.getByRole('group', { name: 'What it shows' });
  await shown.getByLabel('Overview').uncheck();
  await shares.getByRole('button', { name: 'Make the link' }).click();
  await shown.getByText("'screens' must be some of").waitFor();
  await shown.getByLabel('Overview').check();
  await shares.getByLabel('Keywords').check();
  await shares.getByLabel('Notes that clients may see').check();
  await shares.getByLabel('Last day').fill('2026-03-01');
  await shares.getByLabel('Password').fill('open sesame');
  await shares.getByRole('button', { name: 'Make the link' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await shares.getByLabel('Last day').fill('');
  await shares.getByRole('button', { name: 'Make the link' }).click();
  const url = await shares.locator('.notice code').innerText();

  const context = await browser.newContext({ viewport: WIDE });
  t.teardown(() => context.close());
  const visitor = await watchedPage(context, origin);
  await visitor.page.goto(url);
  await visitor.page.getByLabel('Password').fill('wrong');
  await visitor.page.getByRole('button', { name: 'Open' }).click();
  await visitor.page.getByText('The password is wrong.').waitFor();
  await visitor.page.getByLabel('Password').fill('open sesame');
  await visitor.page.getByRole('button', { name: 'Open' }).click();
  await visitor.page.getByRole('heading', { name: 'shop.example' }).waitFor();
  await settled(visitor.page);
  await lookAt(t, visitor.page, 'shared-overview');
  // A day without data is a gap, not a zero.
  await visitor.page.goto(`${url}?from=2026-03-04&to=2026-03-06&compare=none`);
  await visitor.page.getByRole('button', { name: 'Table' }).click();
  await settled(visitor.page);
  t.match(await visitor.page.locator('.chart tbody .number').allInnerTexts(), [/\d/, '–', /\d/]);
  await visitor.page.goto(url);
  await settled(visitor.page);
  t.strictSame(await axeFindings(visitor.page), [], 'axe');
  await visitor.page.getByRole('link', { name: 'Keywords' }).click();
  await visitor.page.getByRole('rowheader').first().waitFor();
  t.match(visitor.page.url(), /\/share\/ord_share_\w+\?screen=keywords$/);
  t.equal(await visitor.page.getByRole('link', { name: 'Queries' }).count(), 0, 'was not chosen');
  t.equal(await visitor.page.locator('a[href^="/app"]').count(), 0, 'nothing leads elsewhere');
  await visitor.page.getByRole('link', { name: 'Notes' }).click();
  await visitor.page.getByText('There are no notes').waitFor();
  await shares.getByRole('button', { name: 'Revoke' }).click();
  await shares.getByRole('button', { name: 'End it for good' }).click();
  await shares.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
  t.equal((await visitor.page.goto(url))!.status(), 404);
  t.strictSame(others(problems), []);
  t.strictSame(visitor.problems, []);
});
