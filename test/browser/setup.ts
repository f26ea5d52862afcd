import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { createSession } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { launch, settled, takeShot, watchedPage } from './browser.ts';
import { startDashboard } from './world.ts';

export const OWNER = 'owner@acme.example';
export const SCREENS = [
  '',
  '/queries',
  '/pages',
  '/keywords',
  '/breakdowns',
  '/explain',
  '/findings',
  '/explore',
  '/alerts',
  '/notes',
  '/data',
];
/** Every screen of somebody who is signed in, of a project with data. */
export const EVERYWHERE = [
  ...['', '/connect', '/channels', '/members', '/keys', '/feeds', '/audit'].map((path) => `/app${path}`),
  ...[...SCREENS, '/settings', '/report', '/keywords/Kw001', '/pages/one?of=https://shop.example/boots'].map(
    (path) => `/app/p/Proj1${path}`,
  ),
  '/app/p/Proj1/queries/one?of=walking%20boots',
  '/app/p/Proj1/alerts?alert=00000000-0000-4000-8000-000000000001',
  '/app/p/Proj1/keywords?compare=year&change=up',
];
export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };
export const HUGE = { width: 2560, height: 1440 };

/** Sums what moved without being asked to, as browsers measure it, and notes what it was. */
export const SHIFTS = `window.shifts = 0; window.moved = []; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, startTime, sources } of list.getEntries()) {
    if (hadRecentInput) continue;
    window.shifts += value;
    const boxOf = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
    for (const { node, previousRect, currentRect } of sources) {
      const what = (node?.outerHTML ?? node?.textContent ?? 'what is gone').slice(0, 100);
      window.moved.push(Math.round(startTime) + ' ms: ' + what + ' from ' + boxOf(previousRect) + ' to ' + boxOf(currentRect));
    }
  }
}).observe({ type: 'layout-shift', buffered: true });`;

/** One server and one browser for all tests. */
export const world = await startDashboard(t);
export const { origin, catalog } = world;
await addMember(catalog, 'acme', OWNER, 'owner');
export const browser: Browser = await launch();
t.teardown(() => browser.close());

/** A browser of somebody who is signed in: an owner with a session, and a limit of requests, of their own. */
export async function signedIn(
  options: Parameters<Browser['newContext']>[0] = {},
  of = catalog,
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const who = { keyId: null, email: OWNER };
  const { token } = await createSession(of, { workspace: 'acme', who, at: Date.now() * 1000 });
  await context.addCookies([
    { name: 'ordinate', value: token, domain: '127.0.0.1', path: '/app', httpOnly: true, sameSite: 'Strict' },
  ]);
  return context;
}

/** A test with a signed-in page; it fails if the page has a problem that `watchedPage` notes. */
export function onPage(
  name: string,
  options: Parameters<Browser['newContext']>[0],
  work: (t: Test, page: Page, context: BrowserContext) => Promise<void>,
): void {
  t.test(name, async (t) => {
    const context = await signedIn(options);
    const { page, problems } = await watchedPage(context, origin);
    await work(t, page, context);
    t.strictSame(problems, []);
    await context.close();
  });
}

export async function open(page: Page, path: string): Promise<void> {
  await page.goto(origin + path);
  await settled(page);
}

/** What axe finds at any level, in light and dark. */
export async function axeFindings(page: Page): Promise<string[]> {
  const found = new Set<string>();
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(`${axe.source};undefined`);
    const { violations } = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`)) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    for (const { id, nodes } of violations) {
      for (const { html, failureSummary } of nodes.slice(0, 2)) found.add(`${id}: ${html} ${failureSummary}`);
    }
  }
  return [...found];
}

/** Pictures of a screen on a laptop, a phone and a large screen, light and dark; the page fits into each. */
export async function lookAt(t: Test, page: Page, name: string): Promise<void> {
  for (const [width, viewport] of Object.entries({ 1440: WIDE, 390: NARROW, 2560: HUGE })) {
    await page.setViewportSize(viewport);
    // Charts take the new width in the next frames. Asked from here, because waiting in the page would need eval.
    for (let asked = 0; asked < 40 && (await overflow(page)) > 0; asked++) await page.waitForTimeout(50);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      // Charts are drawn in the new colours a frame later.
      await page.waitForTimeout(60);
      await takeShot(page, `${name}-${width}-${colorScheme}`);
    }
    t.equal(await overflow(page), 0, `${name} fits ${width} pixels`);
  }
  await page.setViewportSize(WIDE);
}

/** How much wider the page is than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}
