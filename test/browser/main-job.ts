// From an empty server to an alert in a chat, in the browser only: the real processes, a fake Google, a real mail server.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import { addDays, dayOf } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { CLIENT_ID, CLIENT_SECRET, fakeGoogle } from '../fakes/google.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { startMailServer } from '../fakes/smtp.ts';
import { freePort } from '../free-port.ts';
import { startServer, until } from '../process.ts';
import { temporaryFolder } from '../world.ts';
import { settled, watchedPage } from './browser.ts';
import { browser, lookAt, WIDE } from './setup.ts';

const PROPERTY = 'sc-domain:fresh.example';
const QUERIES = Array.from({ length: 30 }, (_, index) => ({
  text: `${['walking', 'running', 'hiking'][index % 3]} ${['boots', 'shoes', 'socks'][Math.floor(index / 3) % 3]} ${index}`,
  page: `https://fresh.example/${index % 7}`,
  volume: 200 - 4 * index,
  position: 2 + (index % 9),
  countries: [['gbr', 1]] as const,
}));

t.test('connect, watch it fill, track, group, note, rule, invite, channels; an alert arrives', async (t) => {
  const google = await fakeGoogle(t);
  google.provider.model.addSite(
    PROPERTY,
    new MadeSearches({ seed: 3, queries: QUERIES, since: addDays(dayOf(Date.now()), -45) }),
  );
  google.sites.set(PROPERTY, 'siteOwner');
  const receiver = await startReceiver(t);
  const mail = await startMailServer(t);
  const folder = temporaryFolder(t);
  const secretFile = join(folder, 'client-secret');
  writeFileSync(secretFile, CLIENT_SECRET);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const settings = {
    PORT: String(port),
    ORDINATE_DATA: join(folder, 'data'),
    ORDINATE_JOBS: 'on',
    ORDINATE_PUBLIC_URL: origin,
    ORDINATE_GOOGLE_CLIENT_ID: CLIENT_ID,
    ORDINATE_GOOGLE_CLIENT_SECRET_FILE: secretFile,
    ORDINATE_GOOGLE_ENDPOINT: google.origin,
    ORDINATE_SECRETS_KEY_FILE: join(folder, 'keys', 'secrets.key'),
    ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
    ORDINATE_DELIVERY_LOOPBACK: 'on',
    ORDINATE_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    ORDINATE_MAIL_FROM: 'reports@fresh.example',
  };
  // The one thing that a shell does: the first owner.
  await command(settings, 'workspaces', 'create', '--id', 'fresh', '--name', 'Fresh', '--plan', 'team');
  await command(settings, 'members', 'add', '--workspace', 'fresh', '--email', 'me@fresh.example', '--role', 'owner');
  const { stdout } = await command(settings, 'login', '--workspace', 'fresh', '--by', 'me@fresh.example');
  const [link = ''] = /http\S+#ord_link_\w+/.exec(stdout) ?? [];
  await startServer(t, settings);

  const context = await browser.newContext({ viewport: WIDE });
  t.teardown(() => context.close());
  const { page, problems } = await watchedPage(context, origin);
  await page.goto(link);
  await page.getByRole('link', { name: 'Connect a property of Search Console' }).click();
  await page.getByRole('button', { name: 'Connect a Google account' }).click();
  await page.getByRole('button', { name: `Create a project of ${PROPERTY}` }).click();
  await page.getByLabel('Brand terms').fill('fresh');
  await page.getByLabel('How many').fill('20');
  await page.getByRole('button', { name: 'Create and fill it' }).click();
  await page.waitForURL(/\/app\/p\/\w{5}\/data/);
  const [, id] = /\/p\/(\w{5})\//.exec(page.url())!;
  const makeDue = (): void => {
    const db = new DatabaseSync(join(settings.ORDINATE_DATA, 'usage.sqlite'));
    db.exec('pragma busy_timeout = 5000');
    db.exec('update job_states set next_at = 0');
    db.close();
  };
  makeDue();
  await page.getByText('Keywords', { exact: true }).last().waitFor();
  await page.getByText(/\d+ of \d+ days/).waitFor({ timeout: 120_000 });
  await page
    .getByText(/days rows|rows$/)
    .first()
    .waitFor({ timeout: 120_000 });
  await lookAt(t, page, 'main-job-filling');

  await page.goto(`${origin}/app/p/${id}/keywords`);
  await page.getByText('20 keywords').waitFor({ timeout: 60_000 });

  await page.goto(`${origin}/app/p/${id}/settings`);
  const groups = page.getByRole('region', { name: 'Groups of keywords' });
  await page.getByRole('button', { name: 'Add a group' }).click();
  await groups.getByLabel('Name', { exact: true }).fill('Boots');
  await groups.getByLabel('Value', { exact: true }).fill('boots');
  await groups.getByRole('button', { name: 'Show what it selects' }).click();
  await groups.getByText(/\d members/).waitFor();
  await groups.getByRole('button', { name: 'Add', exact: true }).click();
  await groups.getByText('query contains boots').waitFor();

  await page.goto(`${origin}/app/p/${id}/notes`);
  await page.getByRole('button', { name: 'Add a note' }).click();
  await page.getByLabel('What happened').fill('New titles');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('New titles').waitFor();

  await page.goto(`${origin}/app/members`);
  await page.getByLabel('E-mail address').fill('colleague@fresh.example');
  await page.getByRole('button', { name: 'Invite' }).click();
  const invitation = await page.locator('.notice code').innerText();
  const other = await browser.newContext({ viewport: WIDE });
  t.teardown(() => other.close());
  const theirs = await other.newPage();
  await theirs.goto(invitation);
  await theirs.getByRole('link', { name: 'fresh.example', exact: true }).waitFor();

  await page.goto(`${origin}/app/channels`);
  for (const [kind, to, events] of [
    ['slack', `${receiver.origin}/services/T0/B0/x`, []],
    ['email', 'team@fresh.example', ['Digest of each week']],
  ] as const) {
    await page.getByRole('button', { name: 'Add a channel' }).click();
    await page.getByLabel('Kind').selectOption(kind);
    await page.getByLabel('Address').fill(to);
    for (const event of events) await page.getByLabel(event).check();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Add a channel' }).waitFor();
  }
  await page.getByRole('button', { name: 'Test team@fresh.example' }).click();
  await page.getByText('The test was accepted.').waitFor();
  t.equal(mail.mails.length, 1);

  await page.goto(`${origin}/app/p/${id}/settings`);
  const rules = page.getByRole('region', { name: 'Alert rules' });
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await rules.getByLabel('Name', { exact: true }).fill('Clicks at all');
  await rules.getByLabel('Days that are added up').fill('1');
  await rules.getByLabel('Compared with').selectOption('value');
  await rules.getByLabel('Opens when it').selectOption('gt');
  await rules.getByLabel('Value', { exact: true }).fill('1');
  await rules.getByRole('button', { name: 'Test over the last year' }).click();
  await rules.getByText(/^\d+ alerts? from/).waitFor();
  await settled(page);
  await rules.getByRole('button', { name: 'Add', exact: true }).click();
  await rules.getByText(/Clicks of the site, 1 days: above 1/).waitFor();
  makeDue();
  const arrived = await until('the alert in the chat', () => {
    makeDue();
    return receiver.received.find(({ body }) => body.includes('Clicks at all'));
  });
  t.match(JSON.parse(arrived.body).text, 'fresh.example');
  await until('the alert in the mail', () => mail.mails[1]);
  t.match(mail.mails[1]!.raw, 'List-Unsubscribe');
  await page.goto(`${origin}/app/p/${id}/alerts`);
  await page.getByText('Clicks at all').first().waitFor();
  await lookAt(t, page, 'main-job-alert');
  t.strictSame(
    problems.filter((problem) => !problem.startsWith(`foreign request: ${google.origin}/`)),
    [],
  );
});
