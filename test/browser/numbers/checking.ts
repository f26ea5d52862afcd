import t, { type Test } from 'tap';
import { launch } from '../browser.ts';
import { Comparing, comparing } from './comparing.ts';
import * as expected from './expected.ts';
import { type Answer, METRICS, type Metric } from './expected.ts';
import { isMissing, startNumbers } from './numbers-world.ts';

/** One server with random numbers and one browser. */
const world = await startNumbers(t);
const browser = await launch();
t.teardown(() => browser.close());
export const ROOT = '/p/Proj1';
export const API = '/projects/Proj1';
/** So many days before the last one. */
export const day = (before: number): string =>
  new Date(Date.parse(world.last) - before * 86_400_000).toISOString().slice(0, 10);

/** Compares what is shown on some screens; there must be no difference. */
export function check(name: string, work: (on: Comparing) => Promise<void>): Promise<unknown> {
  return t.test(name, async (t: Test) => {
    const on = await comparing(browser, world);
    const before = Comparing.compared;
    await work(on);
    t.strictSame(on.differences.slice(0, 20), []);
    t.strictSame(on.problems, []);
    const count = Comparing.compared - before;
    t.ok(count > 20, `${count} compared`);
    await on.close();
  });
}

/** The days of a range: undefined where an answer has none. */
export function daysOf({ from, to }: Answer, daily: Answer[]): Answer[] {
  const days: Answer[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    const date = new Date(at).toISOString().slice(0, 10);
    days.push(daily.find((found) => found.date === date));
  }
  return days;
}

/** Tiles and the chart as a table, against an answer with totals and days. */
export async function compareDays(
  on: Comparing,
  answer: Answer,
  metric: Metric = 'clicks',
  more: Answer[][] = [],
): Promise<void> {
  const { totals, daily, range } = answer;
  const hasLine = totals.comparison && expected.isDrawn(range);
  const isUnknown =
    totals.comparison?.impressions === 0 && totals.unsafe.impressions?.includes('missing_days') === true;
  const before = (name: Metric): string =>
    isUnknown
      ? 'No data to compare with'
      : totals.comparison
        ? `from ${expected.shownOf(name, totals.comparison)}`
        : '';
  on.compare(
    'tiles',
    await on.tiles(),
    METRICS.map((name) => [isUnknown ? expected.shownOf(name, totals) : expected.cellOf(name, totals), before(name)]),
  );
  const figure = on.page.locator('.performance');
  await figure.getByRole('button', { name: 'Table' }).click();
  const isStored = (of: Answer): boolean => !of?.unsafe?.[metric]?.includes('missing_days');
  on.compare(
    'chart',
    await on.rows('.performance .chart-table', { name: '' }),
    daily.map((of: Answer, index: number) => [
      of !== undefined && isMissing(of.date) && of.impressions === 0 ? '–' : expected.shownOf(metric, of),
      ...(hasLine ? [isStored(of) ? expected.shownOf(metric, of?.comparison) : '–'] : []),
      ...more.map((line) => line[index] as string),
    ]),
  );
}

/** The rows of a list against those of the API, and how many there are. */
export async function compareList(on: Comparing, label: string, { paging, ...answer }: Answer): Promise<void> {
  const rows: Answer[] = answer.queries ?? answer.pages ?? answer.keywords;
  const table = on.page.getByRole('region', { name: label, exact: true });
  if (paging.total === 0) {
    on.compare(label, [[String(await table.count())]], [['0']]);
    return;
  }
  const nameOf = ({ query, url }: Answer): string =>
    String(query ?? (url as string).replace('https://shop.example', ''));
  on.compare(
    label,
    await on.rows(`section[aria-label="${label}"]`),
    rows.map((row) => expected.rowOf(nameOf(row), row.metrics ? { ...row, ...row.metrics } : row)),
  );
  const [head = ''] = await on.texts('.list-head > span');
  on.compare('count', [[/^[\d,]+/.exec(head)![0]]], [[expected.count(paging.total)]]);
}
