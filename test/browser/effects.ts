// The dashboard says of each noted change whether it helped, with the numbers of the API and what cannot be said.
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import t from 'tap';
import { addMember } from '../../server/catalog/workspaces.ts';
import type { EffectsResult } from '../../server/reports/effects.ts';
import { CHANGE, EFFECT_WORLD, note, page as pageUrl, uuid } from '../effects/world.ts';
import { makeWorld } from '../world.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, lookAt, OWNER, signedIn } from './setup.ts';

const world = await makeWorld(
  t,
  { ...EFFECT_WORLD, notes: [...EFFECT_WORLD['notes']!, note(8, 'page', '2026-02-20', { page: pageUrl(2) })] },
  { now: Date.now },
);
await world.app.listen({ host: '127.0.0.1', port: 0 });
const origin = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`;
await addMember(world.catalog, 'acme', OWNER, 'owner');

const open = async (page: Page, path: string): Promise<void> => {
  await page.goto(origin + path);
  await settled(page);
};
const percent = (ratio: number): string =>
  new Intl.NumberFormat('en-US', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(
    ratio,
  );
/** A number of the answer as it is: it is rounded already. */
const told = (value: number): string => value.toLocaleString('en-US');
const toldPercent = (ratio: number): string =>
  new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 2 }).format(ratio);
const signed = (ratio: number): string => `${ratio < 0 ? '−' : '+'}${toldPercent(Math.abs(ratio))}`;
const effect = async (query: string) => (await world.ask(`/effects?${query}`)).body as EffectsResult;

t.test('each note of the list has its verdict, which leads to its own screen', async (t) => {
  const context = await signedIn({}, world.catalog);
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/notes');
  const items = page.locator('article.note');
  for (let index = 0; index < (await items.count()); index++) {
    await items.nth(index).scrollIntoViewIfNeeded();
    await items.nth(index).locator('.verdict a').waitFor();
  }
  const shown = await page.locator('article.note .verdict').allInnerTexts();
  const { notes } = (await world.ask('/notes')).body;
  const texts: string[] = [];
  for (const { id } of notes.toReversed()) texts.push((await effect(`note=${id}`)).text);
  t.strictSame(shown, texts);
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'effect-notes');
  await items
    .filter({ hasText: 'Note 1' })
    .first()
    .getByRole('link', { name: /more clicks than expected/ })
    .click();
  await page.waitForURL(/\/effect\?note=/);
  await settled(page);
  t.strictSame(problems, []);
  await context.close();
});

t.test('the screen of one change shows the numbers of the API', async (t) => {
  const context = await signedIn({}, world.catalog);
  const { page, problems } = await watchedPage(context, origin);
  await open(page, `/app/p/Proj1/effect?note=${uuid(1)}`);
  const answer = await effect(`note=${uuid(1)}`);
  const { actual, expected, difference, low, high, p } = answer.effect!;
  t.strictSame(await page.locator('.effect-numbers td').allInnerTexts(), [
    ...[told(actual), told(expected), `+${told(difference)} (+${percent(difference / expected)})`],
    ...[`${signed(low!)} to ${signed(high!)}`, String(p)],
  ]);
  const main = page.locator('main');
  const text = await main.innerText();
  for (const said of [
    answer.text,
    `${answer.control!.members} unchanged pages of this project`,
    `${answer.placebo.count} placebos`,
    'December 2025 core update',
    'One of twenty changes without an effect looks like this by chance.',
  ]) {
    t.ok(text.includes(said), said);
  }
  const source = main.getByRole('link', { name: 'December 2025 core update' });
  t.match(await source.getAttribute('href'), /^https:\/\/status\.search\.google\.com\//);
  await page.getByRole('button', { name: 'Table' }).click();
  const days = answer.daily;
  const cells = await page.locator('.chart-table tbody tr').last().locator('td.number').allInnerTexts();
  t.strictSame(cells, [told(days.at(-1)!.actual), told(days.at(-1)!.expected!)]);
  await page.getByRole('button', { name: 'Chart' }).click();
  t.strictSame(await axeFindings(page), [], 'axe');
  await lookAt(t, page, 'effect');
  await page.getByLabel('Days judged').selectOption('14d');
  await page.waitForURL(/after=14d/);
  await settled(page);
  t.ok((await main.innerText()).includes((await effect(`note=${uuid(1)}&after=14d`)).text), 'windows can be chosen');
  t.strictSame(problems, []);
  await context.close();
});

t.test('what cannot be said is said, and a day needs no note', async (t) => {
  const context = await signedIn({}, world.catalog);
  const { page, problems } = await watchedPage(context, origin);
  for (const [query, said] of [
    [`note=${uuid(2)}`, /leaves nothing unchanged to compare with/],
    [`note=${uuid(4)}`, /Another change of the same pages[\s\S]*In the same days[\s\S]*Note 5/],
    [`note=${uuid(8)}`, /Too early[\s\S]*the days to judge end on/],
  ] as const) {
    await open(page, `/app/p/Proj1/effect?${query}`);
    t.match(await page.locator('main').innerText(), said, query);
    t.ok((await page.locator('main').innerText()).includes((await effect(query)).text), query);
  }
  await open(page, '/app/p/Proj1/notes');
  await page.getByRole('link', { name: 'Judge a day' }).click();
  await page.getByLabel('Day of the change').fill(CHANGE);
  await page.getByLabel('Page').fill(pageUrl(9));
  await page.getByRole('button', { name: 'Judge' }).click();
  await page.waitForURL(/\/effect\?date=/);
  await settled(page);
  const { text, detectable } = await effect(`date=${CHANGE}&page=${encodeURIComponent(pageUrl(9))}`);
  const shown = await page.locator('main').innerText();
  t.ok(shown.includes(text));
  t.ok(shown.includes(`an effect under ${toldPercent(detectable!.ratio)}: within 28 days`));
  t.strictSame(problems, []);
  await context.close();
});

t.test('the form of a note says what could be seen, before the change is made', async (t) => {
  const context = await signedIn({}, world.catalog);
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1/notes?add=1');
  t.match(await page.locator('form').innerText(), /Name the page that changes/);
  await page.getByLabel('Day', { exact: true }).fill('2026-12-01');
  await page.getByLabel('Page').fill(pageUrl(2));
  const about = `date=2026-12-01&page=${encodeURIComponent(pageUrl(2))}`;
  const [usual, longer] = [await effect(`${about}&after=28d`), await effect(`${about}&after=56d`)];
  await page.locator('.detectable').waitFor();
  t.equal(
    await page.locator('.detectable').innerText(),
    `A change under ${toldPercent(usual.detectable!.ratio)} could not be seen here within 28 days; with 56 days ${toldPercent(longer.detectable!.ratio)}.`,
  );
  await lookAt(t, page, 'effect-form');
  await page.getByLabel('Page').fill('https://shop.example/none');
  await page.locator('.detectable', { hasText: 'too small to judge: there were fewer than 30 clicks' }).waitFor();
  t.strictSame(problems, []);
  await context.close();
});

t.test('charts mark ranking updates with name and source, and notes with their verdict', async (t) => {
  const context = await signedIn({}, world.catalog);
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1?from=2025-11-25&to=2025-12-20');
  t.match(await page.locator('figure.chart figcaption').first().innerText(), /Ranking update/);
  await page.getByRole('button', { name: /Ranking update: December 2025 core update/ }).click();
  const box = page.locator('.marker-box');
  t.match(
    await box.locator('.tip-ranking').getByRole('link', { name: 'Source' }).getAttribute('href'),
    /^https:\/\/status\.search\.google\.com\//,
  );
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /Note: Note 1/ }).click();
  await box.getByRole('link', { name: /more clicks than expected/ }).waitFor();
  await lookAt(t, page, 'effect-marker');
  t.strictSame(problems, []);
  await context.close();
});
