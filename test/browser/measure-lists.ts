// Measures lists of 100,000 queries, pages and keywords, and 1,000 projects, in Chromium: `node test/browser/measure-lists.ts`.

import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import t from 'tap';
import { ensureDashboard } from '../../cli/dashboard.ts';
import { createSession } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { addDays, dayOf, eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type Row } from '../world.ts';
import { launch, settled } from './browser.ts';
import { shown, traced, type Work } from './trace.ts';

const ROWS = 100_000;
const PROJECTS = 1000;
const TODAY = dayOf(Date.now());
const LAST = addDays(TODAY, -1);
const DAYS = eachDay(addDays(LAST, -55), LAST);
const OWNER = 'owner@acme.example';
t.setTimeout(900_000);

const id = (prefix: string, number: number): string => prefix + number.toString(36).padStart(5 - prefix.length, '0');
const project = (name: string, domain: string): Row => ({
  ...PROJECT,
  id: name,
  domain,
  synced_through: LAST,
  provisional_after: null,
});
const numbers = Array.from({ length: ROWS }, (_, number) => number);
const others = Array.from({ length: PROJECTS - 1 }, (_, number) => id('X', number));

await ensureDashboard();
const { app, catalog } = await makeWorld(
  t,
  {
    projects: [
      project('Proj1', 'shop.example'),
      ...others.map((name, number) => project(name, `shop-${number}.example`)),
    ],
    keywords: numbers.map((number) => keyword(id('k', number), `walking boots ${number}`)),
    site_daily: [PROJECT['id'] as string, ...others].flatMap((name, number) =>
      ofProject(
        name,
        facts('date device', ...DAYS.map((day, at) => [day, 'mobile', 5 + ((number + at) % 90), 900, 4000])),
      ),
    ),
    keyword_daily: facts(
      'keyword_id date device',
      ...numbers.map((number) => [id('k', number), LAST, 'mobile', 1, 9, number]),
    ),
    query_daily: facts(
      'query date country',
      ...numbers.map((number) => [
        `walking boots ${number}`,
        LAST,
        'gbr',
        number % 500,
        500 + (number % 700),
        9 * number,
      ]),
    ),
    page_daily: facts(
      'url date country',
      ...numbers.map((number) => [
        `https://shop.example/${number}`,
        LAST,
        'gbr',
        number % 500,
        500 + (number % 700),
        9 * number,
      ]),
    ),
  },
  { now: Date.now },
);
await app.listen({ host: '127.0.0.1', port: 0 });
const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
await addMember(catalog, 'acme', OWNER, 'owner');
const browser = await launch();
t.teardown(() => browser.close());
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const { token } = await createSession(catalog, {
  workspace: 'acme',
  who: { keyId: null, email: OWNER },
  at: Date.now() * 1000,
});
await context.addCookies([
  { name: 'ordinate', value: token, domain: '127.0.0.1', path: '/app', httpOnly: true, sameSite: 'Strict' },
]);
const page = await context.newPage();

const works = new Map<string, Work[]>();
/** Follows a link of the page, or types into its search, and waits for the rows. */
async function act(name: string, action: () => Promise<unknown>): Promise<void> {
  // So many requests a minute are more than the limit.
  await page.waitForTimeout(1500);
  const { work } = await traced(browser, page, async () => {
    await action();
    await settled(page);
  });
  works.set(name, [...(works.get(name) ?? []), work]);
}

for (const [name, path] of [
  ['queries', '/app/p/Proj1/queries'],
  ['pages', '/app/p/Proj1/pages'],
  ['keywords', '/app/p/Proj1/keywords'],
  ['projects', '/app'],
] as const) {
  await page.goto(origin + path);
  await settled(page);
  for (let round = 0; round < 3; round++) {
    await act(`${name}: next page`, () => page.getByRole('link', { name: 'Next' }).click());
    await act(`${name}: sort`, () =>
      page.getByRole('link', { name: round % 2 ? 'Position' : 'Impressions', exact: true }).click(),
    );
    await act(`${name}: search`, async () => {
      await page.locator('[data-filter]').fill(`${name === 'pages' ? '/' : ''}${round + 7}`);
      await page.waitForURL(/search=/);
      await page.waitForTimeout(400);
    });
    await page.locator('[data-filter]').fill('');
    await page.waitForURL((url) => !url.search.includes('search='));
    await settled(page);
  }
}

const load = loadavg().map((value) => value.toFixed(1));
console.log(`Processor time of the main thread, medians (least to most); load of the machine ${load.join(', ')}`);
for (const [name, of] of works) {
  const part = (read: (work: Work) => number): string => shown(of.map(read));
  console.log(`${name}: longest task ${part(({ longest }) => longest)}, in all ${part(({ total }) => total)}`);
}
