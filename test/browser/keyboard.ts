// The main job is done with a keyboard alone: read, compare, filter, track, note, watch, invite, sign out.
import t from 'tap';
import { createLink } from '../../server/catalog/sessions.ts';
import { settled, watchedPage } from './browser.ts';
import { browser, catalog, OWNER, origin, WIDE } from './setup.ts';

/** What has the focus: its name, and whether one sees that it has it. */
const FOCUSED = `(() => {
  const at = document.activeElement;
  const labels = [...(at.labels ?? [])].map((label) => label.innerText);
  const name = at.getAttribute('aria-label') ?? (labels.length > 0 ? labels.join(' ') : at.innerText || at.title || '');
  const shown = at.matches('.sr-only') ? at.closest('label') : at;
  const { outlineStyle, outlineWidth } = getComputedStyle(shown);
  const isSeen = outlineStyle !== 'none' && outlineWidth !== '0px';
  return { name: name.trim().replaceAll(/\\s+/g, ' '), isSeen, tag: at.tagName };
})()`;

interface Focused {
  readonly name: string;
  readonly isSeen: boolean;
  readonly tag: string;
}

t.test('with a keyboard alone', async (t) => {
  const context = await browser.newContext({ viewport: WIDE });
  t.teardown(() => context.close());
  const { page, problems } = await watchedPage(context, origin);
  const unseen = new Set<string>();
  const focused = async (): Promise<Focused> => {
    const found = (await page.evaluate(FOCUSED)) as Focused;
    if (!found.isSeen && found.tag !== 'BODY' && found.tag !== 'MAIN') unseen.add(`${found.tag} ${found.name}`);
    return found;
  };
  /** Tabs until something with a name has the focus. */
  const tabTo = async (name: RegExp, key = 'Tab'): Promise<void> => {
    const met: string[] = [];
    for (let presses = 0; presses < 160; presses++) {
      await page.keyboard.press(key);
      const found = await focused();
      if (name.test(found.name)) return;
      met.push(found.name);
    }
    throw new Error(`No key leads to ${name}, only to ${met.join(' | ')}`);
  };
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const fill = async (name: RegExp, text: string): Promise<void> => {
    await tabTo(name);
    await page.keyboard.type(text);
  };

  const who = { keyId: null, email: OWNER };
  const { token } = await createLink(catalog, { workspace: 'acme', who, at: Date.now() * 1000 });
  await page.goto(`${origin}/app/sign-in#${token}`);
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  await page.reload();
  await settled(page);

  // From the list to the project, past the navigation.
  await tabTo(/^Skip to the content$/);
  await press('Enter');
  await tabTo(/^shop\.example$/);
  await press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await settled(page);

  // Another range, then one day of the chart, which is spoken and opens.
  await tabTo(/^Period$/);
  await page.keyboard.type('Last 3 months');
  await page.waitForURL(/period=3m/);
  await settled(page);
  await tabTo(/^Clicks of shop\.example by/);
  await press('ArrowLeft', 'ArrowLeft');
  const status = page.locator('.performance [role=status]').first();
  await status.filter({ hasText: /Clicks: \d+/ }).waitFor();
  await press('Enter');
  await page.waitForURL(/from=/);
  await settled(page);
  await tabTo(/^only .* remove this filter$/, 'Shift+Tab');
  await press('Enter');
  await page.waitForURL((url) => !url.searchParams.has('from'));
  await settled(page);

  // Why clicks changed.
  await press('g', 'e');
  await page.getByRole('heading', { name: 'Explain' }).waitFor();
  await settled(page);

  // A list: search, a filter, a row.
  await press('g', 'q');
  await page.getByRole('heading', { name: 'Queries' }).waitFor();
  await settled(page);
  await press('/');
  await page.keyboard.type('boots');
  await page.waitForURL(/search=boots/);
  await settled(page);
  await tabTo(/^Filter$/);
  await press('Enter');
  await fill(/^Value$/, 'nothing');
  await press('Enter');
  await page.getByText('Nothing matches these filters').waitFor();
  await tabTo(/^Remove all filters$/);
  await press('Enter');
  await page.waitForURL((url) => !url.searchParams.has('filter'));
  await settled(page);
  await tabTo(/^walking boots$/);
  await press('Enter');
  await page.waitForURL(/\/keywords\/Kw001/);
  await settled(page);

  // Track a query, write a note, add a rule.
  await press('g', 'k');
  await page.getByRole('heading', { name: 'Keywords' }).waitFor();
  await settled(page);
  await tabTo(/^Track queries$/);
  await press('Enter');
  await fill(/^Queries/, 'hiking socks');
  await tabTo(/^Track$/);
  await press('Enter');
  await page.getByText('1 query is tracked from now on').waitFor();
  await press('g', 'n');
  await page.getByRole('heading', { name: 'Notes' }).waitFor();
  await settled(page);
  await tabTo(/^Add a note$/);
  await press('Enter');
  await fill(/^What happened/, 'By keyboard');
  await tabTo(/^Add$/);
  await press('Enter');
  await page.getByText('By keyboard').waitFor();
  await tabTo(/^Settings$/);
  await press('Enter');
  await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor();
  await settled(page);
  await tabTo(/^Add a rule$/);
  await press('Enter');
  await fill(/^Name/, 'Fewer clicks');
  await fill(/^Value/, '20');
  await tabTo(/^Add$/);
  await press('Enter');
  await page.getByText(/falls by 20%/).waitFor();

  // Alerts open in place; a colleague is invited; the end.
  await press('g', 'a');
  await page.getByRole('heading', { name: 'Alerts' }).waitFor();
  await settled(page);
  await tabTo(/Fell:/);
  await press('Enter');
  await page.getByText(/^Body/).waitFor();
  await tabTo(/^Members$/);
  await press('Enter');
  await page.getByRole('heading', { name: 'Members' }).waitFor();
  await settled(page);
  await fill(/^E-mail address/, 'keys@acme.example');
  await tabTo(/^Invite$/);
  await press('Enter');
  await page.locator('.notice code').waitFor();
  await tabTo(/^Sign out$/);
  await press('Enter');
  await page.getByLabel('API key').waitFor();

  t.strictSame([...unseen], [], 'one always sees where one is');
  t.strictSame(problems, []);
});
