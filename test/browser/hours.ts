// The newest hours stand on the overview beside those a week before, and around an alert about hours.
import t from 'tap';
import { putEvaluatedAlert } from '../../server/catalog/evaluations.ts';
import { addDays } from '../../server/domain/dates.ts';
import { settled, watchedPage } from './browser.ts';
import { axeFindings, catalog, lookAt, open, origin, signedIn, world } from './setup.ts';

interface Hour {
  readonly hour: string;
  readonly clicks: number;
  readonly impressions: number;
}

// A day more than is shown, for a run over midnight.
const { hours, range } = (await world.ask(`/hours?from=${addDays(new Date().toISOString().slice(0, 10), -11)}`))
  .body as { hours: Hour[]; range: { provisionalAfter: string } };
const exact = (value: number): string => value.toLocaleString('en');
const weekBefore = ({ hour }: Hour): Hour | undefined =>
  hours.find((each) => each.hour.startsWith(addDays(hour.slice(0, 10), -7) + hour.slice(10, 13)));
const cellsOf = (hour: Hour): string[] => {
  const before = weekBefore(hour);
  return [exact(hour.clicks), before ? exact(before.clicks) : '–', exact(hour.impressions)];
};

t.test('the overview shows the newest hours, for the whole property only', async (t) => {
  const context = await signedIn();
  const { page, problems } = await watchedPage(context, origin);
  await open(page, '/app/p/Proj1');
  const card = page.locator('section.hours');
  await card.locator('summary').click();
  const rows = await card.locator('tbody tr').all();
  const cells = await Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
  t.strictSame(cells, hours.slice(-48).reverse().map(cellsOf));
  const complete = hours.filter(({ hour }) => Date.parse(hour) <= Date.parse(range.provisionalAfter)).slice(-24);
  const sum = (all: readonly (Hour | undefined)[]): string =>
    exact(all.reduce((total, each) => total + each!.clicks, 0));
  const text = await card.locator('header p').innerText();
  t.match(text, `${sum(complete)} clicks in the last 24 complete hours, ${sum(complete.map(weekBefore))} in the same`);
  const provisional = hours.slice(-48).filter(({ hour }) => Date.parse(hour) > Date.parse(range.provisionalAfter));
  t.equal(await card.getByText('may still change').count(), provisional.length);
  t.equal(await card.locator('.is-provisional').count(), provisional.length);
  t.strictSame(await axeFindings(page), []);
  await card.scrollIntoViewIfNeeded();
  await lookAt(t, page, 'hours');
  await open(page, '/app/p/Proj1?device=mobile');
  t.equal(await card.count(), 0, 'hours have no devices');
  t.strictSame(
    problems.filter((each) => !/503/.test(each)),
    [],
  );
  await context.close();
});

t.test('an alert about hours shows the hours around it', async (t) => {
  const date = hours.at(-30)!.hour.slice(0, 10);
  const id = '00000000-0000-4000-8000-0000000000aa';
  const alert = {
    id,
    type: 'hourly_stop',
    subject: 'site',
    basis: '',
    kind: 'Clicks stopped',
    severity: 'critical',
  } as const;
  const texts = { title: 'Clicks have stopped', body: 'From here to there.', date, keywordId: null, url: null };
  await putEvaluatedAlert(catalog, 'Proj1', { ...alert, ...texts, createdAt: Date.now() * 1000, resolvedAt: null });
  const context = await signedIn();
  const { page } = await watchedPage(context, origin);
  await open(page, `/app/p/Proj1/alerts?alert=${id}`);
  const around = hours.filter(
    ({ hour }) => hour.slice(0, 10) >= addDays(date, -1) && hour.slice(0, 10) <= addDays(date, 1),
  );
  await page.locator('.hour-bars').waitFor();
  await settled(page);
  t.equal(await page.locator('.hour-bars .hour').count(), around.length);
  t.strictSame(await axeFindings(page), []);
  await lookAt(t, page, 'alert-of-hours');
  await context.close();
});
