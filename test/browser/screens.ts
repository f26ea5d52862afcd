import t from 'tap';
import { settled, watchedPage } from './browser.ts';
import { isWhole, wholeOnly } from './extent.ts';
import { axeFindings, EVERYWHERE, lookAt, NARROW, onPage, open, origin, SCREENS, signedIn } from './setup.ts';

/** Those that show more of a project, where there is more. */
const DETAILS = [
  '/keywords/Kw001',
  '/alerts?alert=00000000-0000-4000-8000-000000000001',
  '?period=3m&interval=week',
  '/pages/one?of=https://shop.example/boots',
];

/** What is opened on a screen, by the names of what is pressed. */
const OPENED = [
  ['/app/p/Proj1/notes?add=1'],
  ['/app/p/Proj1/settings', 'Add a group'],
  ['/app/p/Proj1/settings', 'Add a page group'],
  ['/app/p/Proj1/settings', 'Add a rule', 'Test over the last year'],
  ['/app/p/Proj1/settings', 'Share', 'Make the link'],
  ['/app/p/Proj1/keywords', 'Track queries'],
  ['/app/p/Proj1/keywords/Kw001', 'Tags and target page'],
  ['/app/p/Proj1/queries', 'Filter', 'Add'],
  ['/app/p/Proj1/queries', 'Views'],
  ['/app/p/Proj1', 'Line'],
  ['/app/p/Proj1/breakdowns?type=image'],
  ['/app/p/Proj1?engine=bing'],
  ['/app/p/Proj1/explore?by=query,device&compare=none'],
  ['/app/p/Proj1/explore?by=month,country,query'],
  ['/app/p/Proj1/effect?date=2026-01-01&page=https://shop.example/boots'],
  ['/app/channels', 'Add a channel', 'Add'],
  ['/app/members', 'Invite'],
] as const;

t.test('what is opened on a screen', wholeOnly, async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  for (const [path, ...names] of OPENED) {
    await open(page, path);
    for (const name of names) await page.getByRole('button', { name, exact: true }).first().click();
    await settled(page);
    const name = `${path} ${names.join(' ')}`;
    t.strictSame(await axeFindings(page), [], `${name}: axe`);
    await lookAt(
      t,
      page,
      name
        .slice(1)
        .trim()
        .replaceAll(/[^a-zA-Z0-9]+/g, '-'),
    );
  }
  t.strictSame(
    problems.filter((problem) => !problem.includes('400')),
    [],
  );
  await context.close();
});

t.test('each screen, for a project in each state', async (t) => {
  for (const project of isWhole ? ['Proj1', 'Empty', 'Sync1', 'Fail1'] : ['Proj1']) {
    const context = await signedIn();
    const { page, problems } = await watchedPage(context, origin);
    for (const screen of [...SCREENS, ...(project === 'Proj1' ? DETAILS : [])]) {
      const name = `${project}${screen.replaceAll(/[/?&=]/g, '-')}`;
      await open(page, `/app/p/${project}${screen}`);
      t.ok((await page.locator('h1').textContent())?.trim(), `${name} has a title`);
      t.ok(((await page.locator('main').innerText()).length ?? 0) > 80, `${name} says something`);
      t.strictSame(await axeFindings(page), [], `${name}: axe`);
      if (isWhole) await lookAt(t, page, name);
    }
    t.strictSame(problems, [], project);
    await context.close();
  }
});

t.test('on a phone', wholeOnly, async (t) => {
  const context = await signedIn({ viewport: NARROW });
  const { page, problems } = await watchedPage(context, origin);
  for (const path of EVERYWHERE) {
    await open(page, path);
    t.strictSame(await axeFindings(page), [], `${path}: axe`);
  }
  t.strictSame(problems, []);
  await context.close();
});

onPage('the other screens', {}, async (t, page) => {
  const others = EVERYWHERE.filter((path) => !path.startsWith('/app/p/') || /settings|report|change=|one/.test(path));
  for (const path of others) {
    await open(page, path);
    t.strictSame(await axeFindings(page), [], `${path}: axe`);
    if (isWhole) await lookAt(t, page, path.slice(1).replaceAll(/[^a-zA-Z0-9]+/g, '-'));
  }
});
