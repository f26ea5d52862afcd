import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, catalog, lookAt, open, origin, signedIn } from './setup.ts';

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
