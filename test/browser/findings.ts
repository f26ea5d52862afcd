// Findings show the numbers of the API, lead to where they can be seen, and are dismissed for everybody.
import type { Page } from 'playwright-core';
import t from 'tap';
import { addDays, dayOf } from '../../server/domain/dates.ts';
import { siteOf } from '../findings/site.ts';
import { ofProject, PROJECT, type Tables } from '../world.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, lookAt, open, origin, signedIn, world } from './setup.ts';

const last = addDays(dayOf(Date.now()), -4);
const site = Object.entries(siteOf(last)).map(([table, rows]) => [table, ofProject('Find1', rows)]);
const project = {
  ...PROJECT,
  id: 'Find1',
  domain: 'shop.example',
  property: 'sc-domain:found.example',
  synced_through: addDays(last, 3),
  provisional_after: last,
};
await world.load({ ...(Object.fromEntries(site) as Tables), projects: [project] });

interface Found {
  readonly query?: string;
  readonly page?: string;
  readonly text: string;
  readonly gain: { readonly clicks: number; readonly low: number; readonly high: number } | null;
}

const { findings, tested } = (await world.get('/projects/Find1/findings')).body as {
  findings: readonly Found[];
  tested: Readonly<Record<string, { tested: number; listed: number; reason?: string }>>;
};

const items = (page: Page) => page.locator('li.finding');

/** `+1,234` as a number. */
const numbersIn = (text: string): number[] =>
  (text.match(/[+−]?\d[\d,.\u202f ]*/g) ?? []).map((one) => Number(one.replace('−', '-').replaceAll(/[^\d-]/g, '')));

/** Days as all screens write them. */
const readable = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\d/g, (day) =>
    new Date(day).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' }),
  );

t.test('what is shown is what the API answers, most to be gained first', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Find1/findings');
  t.equal(await items(page).count(), Math.min(30, findings.length));
  t.ok(findings.length >= 3, 'there is something to see');
  const byGain = findings.toSorted((a, b) => (b.gain?.clicks ?? 0) - (a.gain?.clicks ?? 0));
  const [first] = byGain;
  const shown = items(page).first();
  t.match(await shown.innerText(), readable(first!.text));
  const { clicks, low, high } = first!.gain!;
  t.strictSame(numbersIn(await shown.locator('.gain').innerText()), [clicks, low, high]);
  const texts = await items(page).locator('> p:not(.finding-foot)').allInnerTexts();
  t.strictSame(
    texts,
    byGain.slice(0, 30).map(({ text }) => readable(text)),
  );
  const looked = await page.locator('.tested > div').allInnerTexts();
  for (const { tested: count, reason } of Object.values(tested)) {
    const wanted = reason === undefined ? `${count.toLocaleString('en-US')} looked at` : 'Not tested';
    t.ok(
      looked.some((text) => text.includes(wanted)),
      wanted,
    );
  }
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'findings');
  await shown.locator('a').first().click();
  await page.waitForURL(/\/(queries|pages)\/one\?/);
  await settled(page);
  t.equal(new URL(page.url()).searchParams.get('of'), first!.query ?? first!.page, 'leads to the row');
  t.strictSame(problems, []);
  await context.close();
});

t.test('a dismissed finding is gone for everybody until it is listed again', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Find1/findings?type=split');
  t.equal(await items(page).count(), 1);
  await items(page).getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('heading', { name: 'Nothing out of the ordinary' }).waitFor();
  t.match(await page.locator('main').innerText(), /1 finding of these days is dismissed/);
  t.strictSame((await world.get('/projects/Find1/findings?type=split')).body.findings, []);
  await page.getByRole('link', { name: 'Show 1 dismissed' }).click();
  await settled(page);
  t.match(await items(page).innerText(), /Dismissed by owner@acme\.example/);
  await lookAt(t, page, 'findings-dismissed');
  await items(page).getByRole('button', { name: 'List again' }).click();
  await items(page).getByRole('button', { name: 'Dismiss' }).waitFor();
  t.equal((await world.get('/projects/Find1/findings?type=split')).body.findings.length, 1);
  t.strictSame(problems, []);
  await context.close();
});

t.test('where nothing could be tested, it says why and what would be needed', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Find1/findings?type=high_ctr&country=deu');
  const text = await page.locator('main').innerText();
  for (const part of ['Nothing could be tested', 'What was looked at', 'a longer period has more']) t.match(text, part);
  t.equal(await items(page).count(), 0);
  await lookAt(t, page, 'findings-nothing');
  t.strictSame(await axeFindings(page), [], 'axe');
  t.strictSame(problems, []);
  await context.close();
});
