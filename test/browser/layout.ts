// Screens hold still, can be touched, and take long and foreign names, on a phone and on a laptop.
import type { Route } from 'playwright-core';
import { settled } from './browser.ts';
import { axeFindings, EVERYWHERE, HUGE, NARROW, onPage, open, origin, SCREENS, SHIFTS, WIDE } from './setup.ts';

/** What can be touched and is smaller than 24 pixels, other than links within sentences. */
const SMALL = `[...document.querySelectorAll('a, button, select, input:not(.sr-only), label:has(> input.sr-only)')]
  .filter((each) => each.offsetParent !== null && each.closest('p, dd, .range-line, figcaption, .skip') === null)
  .map((each) => [each.closest('label') ?? each, each.getBoundingClientRect()])
  .filter(([each, { width, height }]) => {
    const own = each.getBoundingClientRect();
    return Math.max(height, own.height) < 24 || Math.max(width, own.width) < 24;
  })
  .map(([each]) => each.outerHTML.slice(0, 120))`;

for (const [name, viewport] of Object.entries({ phone: NARROW, laptop: WIDE, 'large screen': HUGE })) {
  onPage(`nothing moves by itself on a ${name}, and all can be touched`, { viewport }, async (t, page) => {
    await page.addInitScript(SHIFTS);
    for (const path of EVERYWHERE) {
      await open(page, path);
      const shifts = (await page.evaluate('window.shifts')) as number;
      const moved = shifts > 0.05 ? ((await page.evaluate('window.moved')) as string[]) : [];
      t.ok(shifts <= 0.05, [`${path}: ${shifts.toFixed(3)}`, ...moved].join('; '));
      t.strictSame(await page.evaluate(SMALL), [], path);
    }
  });
}

onPage('on a phone, screens are behind a menu', { viewport: NARROW }, async (t, page) => {
  await open(page, '/app/p/Proj1');
  const link = page.getByRole('link', { name: 'Alerts', exact: true });
  t.notOk(await link.isVisible());
  await page.getByRole('button', { name: 'Menu' }).click();
  const box = (await link.boundingBox())!;
  t.ok(box.x >= 0 && box.x + box.width <= NARROW.width, 'not cut off');
  await link.click();
  await page.getByRole('heading', { name: 'Alerts' }).waitFor();
  t.notOk(await link.isVisible(), 'closed');
  await page.getByRole('button', { name: 'Menu' }).click();
  t.strictSame(await axeFindings(page), [], 'axe');
});

onPage(
  'on a laptop, screens are in a list without a menu, each name beside its icon',
  { viewport: WIDE },
  async (t, page) => {
    await open(page, '/app/p/Proj1/keywords');
    t.notOk(await page.getByRole('button', { name: 'Menu' }).isVisible());
    const gaps = (await page.evaluate(`[...document.querySelectorAll('.nav-link, .group-tree a')].map((link) =>
    link.children[1].getBoundingClientRect().left - link.children[0].getBoundingClientRect().right)`)) as number[];
    t.ok(gaps.length > 10 && gaps.every((gap) => gap >= 6), `pixels between: ${gaps.join(', ')}`);
  },
);

onPage('a large screen is used', { viewport: HUGE }, async (t, page) => {
  for (const path of ['/app', ...SCREENS.map((screen) => `/app/p/Proj1${screen}`)]) {
    await open(page, path);
    const width = (await page.evaluate(`Math.max(...[...document.querySelectorAll('main .card, main .page-head')]
      .map((each) => each.getBoundingClientRect().right)) - document.querySelector('h1').getBoundingClientRect().left`)) as number;
    t.ok(width >= 0.7 * HUGE.width, `${path}: ${width} pixels`);
  }
});

/** What a list is answered with. */
const answered = async (route: Route) => {
  const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
  const response = await route.fetch({ headers });
  return { response, body: (await response.json()) as { queries: object[]; pages: object[] } };
};
const LONG = 'x'.repeat(300);

for (const viewport of [WIDE, NARROW])
  onPage(
    `names of 300 letters wrap in ${viewport.width} pixels; hosts are shown as people read them`,
    { viewport },
    async (t, page) => {
      await page.route('**/app/api/projects/Proj1/queries?**', async (route) => {
        const { response, body } = await answered(route);
        body.queries = body.queries.map((row) => ({ ...row, query: LONG }));
        await route.fulfill({ response, json: body });
      });
      await page.route('**/app/api/projects/Proj1/pages?**', async (route) => {
        const { response, body } = await answered(route);
        body.pages = body.pages.map((row) => ({ ...row, url: `https://xn--bcher-kva.example/${LONG}` }));
        await route.fulfill({ response, json: body });
      });
      for (const screen of ['/queries', '/pages']) {
        await open(page, `/app/p/Proj1${screen}`);
        t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, screen);
        const row = page.locator('tbody tr').first();
        const { x, width } = (await row.locator('th').boundingBox())!;
        t.ok(x + width <= viewport.width, `${screen}: the name is within the window`);
      }
      await page.getByText('bücher.example').first().waitFor();
    },
  );

onPage('the list of projects has names before its numbers are there', { viewport: WIDE }, async (t, page) => {
  const held = Promise.withResolvers<void>();
  // A member who has marked a project is answered by another path.
  await page.route(/\/app\/api\/portfolio(-by-favourites)?\?/, async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(`${origin}/app`);
  // By its address: two projects have this domain.
  await page.locator('a.text[href="/app/p/Proj1"]').waitFor();
  t.match(await page.locator('.table-card').getAttribute('class'), 'is-stale');
  held.resolve();
  await settled(page);
  t.match(await page.locator('tbody').innerText(), /\d/);
});

onPage('numbers are explained in place; on paper there is no navigation', { viewport: WIDE }, async (t, page) => {
  await open(page, '/app/p/Proj1');
  await page.getByRole('button', { name: 'What are these numbers?' }).click();
  const dialog = page.getByRole('dialog', { name: 'What these numbers are' });
  await dialog.getByText('Anonymous queries').waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.emulateMedia({ media: 'print' });
  t.notOk(await page.getByRole('navigation', { name: 'Screens' }).isVisible());
  t.ok(await page.locator('.metrics').isVisible());
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const colour = await page.evaluate('getComputedStyle(document.querySelector(".metric-value")).color');
  t.equal(colour, 'rgb(26, 34, 48)', 'paper is white, whatever the screen is');
  await page.emulateMedia({ media: null, colorScheme: 'dark' });
  await page.locator('[data-scheme=dark] canvas').waitFor();
  // Nothing is drawn anew while it is printed.
  await page.evaluate(`matchMedia('print').addEventListener('change', ({ matches }) => {
    if (matches) window.printed = getComputedStyle(document.querySelector('[data-scheme=dark] canvas')).filter;
  })`);
  await page.pdf();
  t.match(await page.evaluate('window.printed'), /^invert\(1\)/, 'a chart of a dark screen gets dark lines');
});
