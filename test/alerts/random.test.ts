// The built-in rules equal their definition on random sites, keywords and pages.
import t from 'tap';
import { addDays, countDays } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { Random } from '../random.ts';
import { makeLazyWorld, PROJECT, type Row } from '../world.ts';
import { type KeywordDay, keywordAlerts, trafficAlerts } from './oracle.ts';

/** A fixed seed gives the same rows in each run; the environment can set another, and more projects. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const PROJECTS = 24 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
const FIRST = '2026-05-26';
const DAYS = 220;
const LAST = addDays(FIRST, DAYS - 1);
/** The first evaluation is that of the day 60 days before the last; it begins 42 days earlier. */
const EVALUATED = DAYS - 1 - 60 - 42;
const PAGES = ['/a', '/b', '/c'];

function clicksOf(dice: Random): number[] {
  const level = dice.pick([5, 6, 30, 400]);
  const [scatter, weekend] = [dice.pick([0, 0.1, 0.2, 0.6]), dice.pick([0, 0.4, 1])];
  let factor = 1;
  return Array.from({ length: DAYS }, (_, day) => {
    if (day >= 70 && dice.once(20)) factor = dice.pick([1, 1, 1, 0.2, 0.5, 0.6, 0.7]);
    if (dice.once(150)) return 0;
    const mean = level * factor * (day % 7 > 4 ? weekend : 1);
    return Math.round(mean * (1 + scatter * (2 * dice.next() - 1)));
  });
}

function keywordOf(dice: Random): KeywordDay[] {
  const [level, position] = [dice.pick([0.7, 2.9, 3.5, 12, 12]), 1 + 31 * dice.next() * dice.next()];
  const scatter = dice.pick([0, 0.02, 0.05, 0.1]);
  const isShown = dice.pick([0.5, 0.7, 1, 1, 1]);
  let [worse, weekly, silent] = [1, 1, 0];
  let [page, share] = ['/a', 1];
  return Array.from({ length: DAYS }, (_, day) => {
    if (day % 7 === 0) weekly = 1 + scatter * (2 * dice.next() - 1);
    if (day >= 60 && dice.once(25)) worse = dice.pick([1, 1, 1.3 + dice.next(), 1.5 + dice.next()]);
    if (day >= 60 && dice.once(120)) silent = dice.whole(4, 70);
    if (dice.once(40)) [page, share] = [dice.pick(PAGES), dice.pick([0.55, 0.7, 0.9, 1])];
    silent--;
    const impressions = silent > 0 || dice.next() >= isShown ? 0 : Math.round(level * (0.5 + dice.next()) + 0.3);
    const main = Math.round(impressions * share);
    const other = PAGES[(PAGES.indexOf(page) + 1) % 3]!;
    return {
      impressions,
      sumPosition: Math.round(impressions * (position * weekly * worse - 1)),
      pages: { ...(main > 0 && { [page]: main }), ...(impressions > main && { [other]: impressions - main }) },
    };
  });
}

t.test('random rows', async (t) => {
  const dice = new Random(SEED);
  const tables = { projects: [] as Row[], keywords: [] as Row[], site_daily: [] as Row[] };
  const facts = { keyword_daily: [] as Row[], keyword_page_daily: [] as Row[] };
  const expected: unknown[] = [];
  for (let n = 0; n < PROJECTS; n++) {
    const id = `P${1000 + n}`;
    const common = (day: number) => ({ project_id: id, date: addDays(FIRST, day) });
    tables.projects.push({ ...PROJECT, id, domain: `p${n}.example`, synced_through: LAST, provisional_after: LAST });
    const clicks = clicksOf(dice);
    for (const [day, count] of clicks.entries()) {
      const shown = 2 * count + 1;
      tables.site_daily.push({ ...common(day), device: 'mobile', clicks: count, impressions: shown, sum_position: 0 });
    }
    for (const [type, opened, resolved, isCritical] of trafficAlerts(clicks, EVALUATED)) {
      expected.push([id, null, type, isCritical ? 'critical' : 'warning', opened, resolved]);
    }
    // The first is shown on every day, so that no day is missing.
    for (const keyword of ['kwAll', 'kwaaa', 'kwAaa', 'kwBbb']) {
      const target = dice.pick([null, '/a', '/b']);
      const target_url = target === null ? null : `https://shop.example${target}`;
      tables.keywords.push({
        project_id: id,
        id: keyword,
        query: keyword,
        target_url,
        tracked_since: '2025-01-05T00:00:00Z',
      });
      const always = { impressions: 1, sumPosition: 0, pages: { [target ?? '/a']: 1 } };
      const days = keyword === 'kwAll' ? Array.from({ length: DAYS }, () => always) : keywordOf(dice);
      for (const [day, { impressions, sumPosition, pages }] of days.entries()) {
        const row = { ...common(day), keyword_id: keyword, clicks: 0 };
        // Two devices, of which one may have nothing.
        const [part, sum] = [Math.floor(impressions / 3), Math.floor(sumPosition / 2)];
        const desktop = { ...row, device: 'desktop', impressions: part, sum_position: part > 0 ? sum : 0 };
        const mobile = {
          ...row,
          device: 'mobile',
          impressions: impressions - part,
          sum_position: sumPosition - desktop.sum_position,
        };
        facts.keyword_daily.push(...[desktop, mobile].filter((each) => each.impressions > 0));
        for (const [path, shown] of Object.entries(pages)) {
          facts.keyword_page_daily.push({
            ...row,
            url: `https://shop.example${path}`,
            impressions: shown,
            sum_position: 0,
          });
        }
      }
      const severity = (type: string): string => (type.startsWith('url') ? 'info' : 'warning');
      for (const [type, opened, resolved] of keywordAlerts(days, target, EVALUATED))
        expected.push([id, keyword, type, severity(type), opened, resolved]);
    }
  }
  const now = Date.parse('2027-01-10T12:00:00Z');
  const { dataFolder } = await makeLazyWorld(t, { ...tables, ...facts }, { now });
  const evaluate = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, 'alerts', 'evaluate', ...words);
  await evaluate('--as-of', addDays(LAST, -60));
  const { stdout } = await evaluate('--json');
  const dayOf = (day: string | null): number | null => (day === null ? null : countDays(FIRST, day) - 1);
  const found = (JSON.parse(stdout) as { project: string; alerts: Record<string, string | null>[] }[]).flatMap(
    ({ project, alerts }) =>
      alerts.map(({ type, severity, date, keywordId, resolvedOn }) => {
        return [project, keywordId, type, severity, dayOf(date!), dayOf(resolvedOn!)];
      }),
  );
  const sorted = (all: readonly unknown[]): string[] => all.map((one) => JSON.stringify(one)).sort();
  t.strictSame(sorted(found), sorted(expected));
  const counts = Object.groupBy(found, (alert) => alert.slice(2, 4).join(' '));
  for (const [what, all] of Object.entries(counts)) t.ok(all!.length >= 6, `${what}: ${all!.length}`);
});
