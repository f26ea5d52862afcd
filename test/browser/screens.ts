import t from 'tap';
import { watchedPage } from './browser.ts';
import { lookAt, NARROW, open, origin, SCREENS, seriousFindings, signedIn } from './setup.ts';

/** Those that show more of a project, where there is more. */
const DETAILS = [
  '/keywords/Kw001',
  '/alerts?alert=00000000-0000-4000-8000-000000000001',
  '?period=3m&interval=week',
  '/pages/one?of=https://shop.example/boots',
];

t.test('each screen, for a project in each state', async (t) => {
  for (const project of ['Proj1', 'Empty', 'Sync1', 'Fail1']) {
    const context = await signedIn();
    const { page, problems } = await watchedPage(context, origin);
    for (const screen of [...SCREENS, ...(project === 'Proj1' ? DETAILS : [])]) {
      const name = `${project}${screen.replaceAll(/[/?&=]/g, '-')}`;
      await open(page, `/app/p/${project}${screen}`);
      t.ok((await page.locator('h1').textContent())?.trim(), `${name} has a title`);
      t.ok(((await page.locator('main').innerText()).length ?? 0) > 80, `${name} says something`);
      t.strictSame(await seriousFindings(page), [], `${name}: axe`);
      await lookAt(t, page, name);
    }
    t.strictSame(problems, [], project);
    await context.close();
  }
});

t.test('on a phone, in the dark', async (t) => {
  const context = await signedIn({ viewport: NARROW, colorScheme: 'dark' });
  const { page, problems } = await watchedPage(context, origin);
  for (const path of [
    '/app',
    ...SCREENS.map((screen) => `/app/p/Proj1${screen}`),
    '/app/p/Proj1/keywords/Kw001',
    '/app/keys',
  ]) {
    await open(page, path);
    t.strictSame(await seriousFindings(page), [], `${path}: axe`);
  }
  t.strictSame(problems, []);
  await context.close();
});

t.test('screens of the workspace', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  for (const path of ['/app', '/app/keys']) {
    await open(page, path);
    t.strictSame(await seriousFindings(page), [], `${path}: axe`);
    await lookAt(t, page, path.slice(1).replaceAll('/', '-'));
  }
  t.strictSame(problems, []);
  await context.close();
});
