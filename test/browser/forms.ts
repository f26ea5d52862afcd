import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { createLink } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, catalog, lookAt, OWNER, open, origin, signedIn } from './setup.ts';

/** How many keys of the workspace have a name. */
async function keysNamed(name: string): Promise<number> {
  const keys = await catalog.statements.all<{ name: string }>('keys_of_workspace', { workspace: 'acme' });
  return keys.filter((key) => key.name === name).length;
}

t.test('two clicks on Create make one key, whose secret is shown and works', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/keys');
  const create = page.getByRole('button', { name: 'Create' });
  await page.getByLabel('New key').fill('two clicks');
  await create.dblclick();
  const secret = page.locator('.notice code');
  await secret.waitFor();
  await settled(page);
  t.equal(await keysNamed('two clicks'), 1);
  const headers = { authorization: `Bearer ${await secret.innerText()}` };
  t.equal((await fetch(`${origin}/api/v1/projects`, { headers })).status, 200);
  await lookAt(t, page, 'new-key');
  t.strictSame(await axeFindings(page), [], 'axe');

  // The answer is lost on its way: the second try creates nothing, and shows the secret of the first.
  const lost: number[] = [];
  await page.route('**/app/api/keys', async (route) => {
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
    if (route.request().method() === 'POST') lost.push((await route.fetch({ headers })).status());
    await route.abort();
  });
  await page.getByLabel('New key').fill('lost answer');
  await create.click();
  await page.getByText('The server cannot be reached').waitFor();
  await page.unrouteAll();
  t.strictSame(lost, [200]);
  await create.click();
  await page.getByText('The key "lost answer" was created').waitFor();
  t.equal(await keysNamed('lost answer'), 1);
  const second = { authorization: `Bearer ${await secret.innerText()}` };
  t.equal((await fetch(`${origin}/api/v1/projects`, { headers: second })).status, 200);
  t.strictSame(problems, []);
  await context.close();
});

t.test('a double click removes nothing: what cannot be undone needs a second press', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/notes?add=1');
  await page.getByLabel('What happened').fill('Not to be removed by a slip');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const note = page.getByRole('article').filter({ hasText: 'Not to be removed by a slip' });
  await note.getByRole('button', { name: 'Remove' }).dblclick();
  await note.getByRole('button', { name: 'Remove for good' }).waitFor();
  await note.getByRole('button', { name: 'Remove for good' }).click();
  await note.waitFor({ state: 'detached' });
  t.strictSame(problems, []);
  await context.close();
});

/** The text of a new note of the owner that is being edited. */
async function editNewNote(page: Page, text: string): Promise<Locator> {
  await open(page, '/app/p/Proj1/notes?add=1');
  await page.getByLabel('What happened').fill(text);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: text }).getByRole('button', { name: 'Edit' }).click();
  const field = page.getByLabel('What happened');
  await field.waitFor();
  return field;
}

t.test('two people edit the same note: the second sees both texts, and decides', async (t) => {
  const context = await signedIn();
  const other = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  const { page: second } = await watchedPage(other, origin);
  await editNewNote(page, 'Before both');
  await open(second, '/app/p/Proj1/notes');
  await second.getByRole('listitem').filter({ hasText: 'Before both' }).getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('What happened').fill('Saved by the first');
  await second.getByLabel('What happened').fill('Typed by the second');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved by the first').waitFor();
  await second.getByRole('button', { name: 'Save', exact: true }).click();
  const both = second.getByRole('region', { name: 'Changed meanwhile' });
  await both.waitFor();
  t.match(await both.innerText(), /What happened\s+Saved by the first\s+Typed by the second/);
  await lookAt(t, second, 'both-texts');
  t.strictSame(await axeFindings(second), [], 'axe');
  await second.getByRole('button', { name: 'Save', exact: true }).click();
  await both.waitFor({ state: 'detached' });
  await open(page, '/app/p/Proj1/notes');
  await page.getByText('Typed by the second').waitFor();
  t.equal(await page.getByText('Saved by the first').count(), 0);
  t.strictSame(problems, []);
  await context.close();
  await other.close();
});

/** Ends all sessions of the owner, as time would. */
async function endSessions(): Promise<void> {
  await catalog.statements.run('member_sessions_delete', { workspace: 'acme', email: OWNER });
}

async function signInAgain(page: Page, email = OWNER): Promise<void> {
  const { token } = await createLink(catalog, {
    workspace: 'acme',
    who: { keyId: null, email },
    at: Date.now() * 1000,
  });
  await page.goto(`${origin}/app/sign-in#${token}`);
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
}

const drafts = (page: Page): Promise<string> => page.evaluate('JSON.stringify(Object.entries(localStorage))');

t.test(
  'a session ends: what was typed is back after the next sign-in, for nobody else, and without secrets',
  async (t) => {
    const context = await signedIn();
    const { page } = await watchedPage(context, origin);
    const field = await editNewNote(page, 'The note before');
    await field.fill('A long text that nobody wants to type again');
    await endSessions();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Your session has ended').waitFor();
    await signInAgain(page);
    await open(page, '/app/p/Proj1/notes');
    t.equal(await field.inputValue(), 'A long text that nobody wants to type again');
    await page.getByText(/^What you had typed .* is back/).waitFor();
    await lookAt(t, page, 'restored');
    t.strictSame(await axeFindings(page), [], 'axe');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await field.waitFor({ state: 'detached' });
    await page.getByText('A long text that nobody wants to type again').waitFor();
    t.notMatch(await drafts(page), 'nobody wants', 'a draft ends when it is saved');

    await open(page, '/app/p/Proj1/settings');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByLabel('Last day').fill('2031-01-01');
    await page.getByLabel('Password').fill('not to be kept');
    await open(page, '/app/channels');
    await page.getByRole('button', { name: 'Add a channel' }).click();
    await page.getByLabel('Address').fill('https://hooks.example/secret-path');
    await page.getByLabel('Name', { exact: true }).fill('Typed by the owner');
    await page.reload();
    await page.getByLabel('Name', { exact: true }).waitFor();
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Typed by the owner');
    const stored = await drafts(page);
    t.match(stored, '2031-01-01');
    for (const secret of ['not to be kept', 'secret-path']) t.notMatch(stored, secret);

    await endSessions();
    await addMember(catalog, 'acme', 'second@acme.example', 'admin');
    await signInAgain(page, 'second@acme.example');
    t.notMatch(await drafts(page), 'ordinate.draft', 'gone with the next person');
    await open(page, '/app/channels');
    t.equal(await page.getByLabel('Address').count(), 0);
    await page.getByRole('button', { name: 'Add a channel' }).click();
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), '');
    await page.getByLabel('Name', { exact: true }).fill('Typed by the second');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    t.notMatch(await drafts(page), 'ordinate.draft', 'who signs out leaves nothing');
    await context.close();
  },
);
