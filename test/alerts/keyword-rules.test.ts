// Keyword alerts open for real drops, losses and page changes, and stay closed for noise and provider changes.
import fc from 'fast-check';
import t from 'tap';
import type { EvaluatedAlert } from '../../server/alerts/alert.ts';
import { keywordDrop, mayDrop } from '../../server/alerts/keyword-drop.ts';
import type { KeywordFacts } from '../../server/alerts/keyword-facts.ts';
import { KeywordReplay, type KeywordStates } from '../../server/alerts/keyword-replay.ts';
import { PageCandidates } from '../../server/alerts/page-candidates.ts';
import type { ProviderEvent } from '../../server/domain/provider-events.ts';
import { calendarOf, type KeywordDay, keywordFacts, type PageDay, runningSums, times } from './facts.ts';

interface Range {
  readonly from: number;
  readonly to: number;
}

function replay(
  facts: KeywordFacts,
  { from, to }: Range,
  before?: KeywordStates,
  events: readonly ProviderEvent[] = [],
) {
  const run = new KeywordReplay(facts, calendarOf(facts.days, [], events), { from, to }, before);
  for (let day = from; day <= to; day++) run.run(day);
  return run;
}

/** Type, keyword, and the places of the days on which alerts opened and resolved. */
function alertsOf(facts: KeywordFacts, events: readonly ProviderEvent[] = []) {
  return shorten(replay(facts, { from: 0, to: facts.days - 1 }, undefined, events).alerts);
}

function shorten(alerts: readonly EvaluatedAlert[]) {
  const { indexOf } = { indexOf: (day: string) => calendarOf(1).indexOf(day) };
  return alerts.map(({ type, keywordId, date, resolvedOn }) => [
    type,
    keywordId,
    indexOf(date),
    resolvedOn && indexOf(resolvedOn),
  ]);
}

const SHOWN: KeywordDay = [10, 4];
const SIZE = (length: number) => ({ minLength: length, maxLength: length });

t.test('a keyword drops when its position is worse than usual on three evaluations running', (t) => {
  const facts = keywordFacts([{ days: [...times(63, SHOWN), ...times(10, [10, 12] as const), ...times(20, SHOWN)] }]);
  // 8/7 a day: the week is at 5.5 and more from the second day on, 1.5 worse than 4; far enough from the second on.
  const [[type, , opened, resolved]] = alertsOf(facts) as [[string, string, number, number]];
  t.equal(type, 'keyword_drop');
  t.equal(opened, 66);
  // At most 4 + 1.5 / 2 again three times: a day of seven at 12 makes 5.1.
  t.equal(resolved, 63 + 10 + 6 + 2);
  const { alerts } = replay(facts, { from: 0, to: 92 });
  t.equal(alerts[0]!.title, '"query 0" fell from position 4.0 to 8.6');
  t.match(
    alerts[0]!.body,
    /In the week to 2026-08-06 .* was 8\.6 over 70 impressions, against 4\.0 in a usual week\. Resolved on 2026-08-21: its average position is back at 4\.0\.$/,
  );
  t.end();
});

t.test('what is shown too seldom, ranks too far behind or scatters does not drop', (t) => {
  const dropped = (before: KeywordDay, after: KeywordDay) =>
    alertsOf(keywordFacts([{ days: [...times(63, before), ...times(14, after)] }])).length;
  t.equal(dropped([3, 4], [3, 12]), 1, '21 impressions a week');
  t.equal(dropped([2, 4], [2, 12]), 0, '14 impressions a week');
  t.equal(dropped([10, 30], [10, 45]), 1);
  t.equal(dropped([10, 31], [10, 47]), 0, 'who looks at page four');
  t.equal(dropped([10, 4], [10, 5.4]), 0, 'less than 1.5 places');
  const weeks = [2, 6, 3, 9, 2, 7, 3, 8, 4].flatMap((position) => times(7, [10, position] as const));
  t.same(alertsOf(keywordFacts([{ days: [...weeks, ...times(10, [10, 9] as const)] }])), []);
  t.end();
});

t.test('the quick look lets through all that opens', (t) => {
  const day = fc.record({ impressions: fc.nat(30), position: fc.nat(20) });
  const weeks = fc.array(day, { minLength: 9, maxLength: 9 });
  fc.assert(
    fc.property(weeks, (days) => {
      const sums = {
        impressions: runningSums(days.flatMap(({ impressions }) => times(7, impressions))),
        positions: runningSums(days.flatMap(({ impressions, position }) => times(7, impressions * position))),
      };
      return !keywordDrop(sums, 62).opens || mayDrop(sums, 62);
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('windows that cross the edge of a provider event say nothing', (t) => {
  const drop = keywordFacts([{ days: [...times(63, SHOWN), ...times(10, [10, 12] as const)] }]);
  const event = {
    title: '',
    kind: 'span',
    affects: ['impressions'],
    device: null,
    announcedOn: null,
    source: '',
  } as const;
  t.equal(alertsOf(drop).length, 1);
  t.same(alertsOf(drop, [{ ...event, from: '2026-01-01', to: '2026-06-20' }]), [], 'its end is in the weeks before');
  t.same(alertsOf(drop, [{ ...event, from: '2026-08-04', to: '2026-12-31' }]), [], 'its beginning is in the last week');
  t.equal(alertsOf(drop, [{ ...event, from: '2026-01-01', to: '2026-12-31' }]).length, 1, 'all days are in it');
  t.equal(alertsOf(drop, [{ ...event, affects: ['clicks'], from: '2026-01-01', to: '2026-06-20' }]).length, 1);
  t.same(
    alertsOf(drop, [{ ...event, kind: 'change', from: '2026-01-01', to: '2026-12-31' }]),
    [],
    'nobody knows the day',
  );
  t.end();
});

t.test('a keyword is lost when it is not shown for longer than its gaps', (t) => {
  const lost = alertsOf(keywordFacts([{ days: [...times(60, SHOWN), ...times(80, null)] }]));
  t.same(lost, [['keyword_lost', 'K0000', 66, 66 + 56]], 'seven days, and gone after 56');
  const gaps = [...times(15, [SHOWN, null, null, null] as const).flat(), SHOWN];
  const facts = keywordFacts([{ days: [...gaps, ...times(20, null)] }]);
  t.same(alertsOf(facts), [], 'not shown on half of the days');
  const everySecond = [...times(28, [SHOWN, null]).flat(), SHOWN];
  const back = [...times(5, null), SHOWN, null, SHOWN, SHOWN];
  const returns = keywordFacts([{ days: [...everySecond, null, null, ...back] }]);
  t.same(alertsOf(returns), [['keyword_lost', 'K0000', 63, 67]], 'shown on the third of the last seven days');
  const { alerts } = replay(returns, { from: 0, to: returns.days - 1 });
  t.equal(alerts[0]!.title, '"query 0" has had no impressions for 7 days');
  t.match(
    alerts[0]!.body,
    /last shown on 2026-07-27 and not since, until 2026-08-03\. .* 140 impressions at an average position of 4\.0\. Resolved/,
  );
  t.same(alertsOf(keywordFacts([{ days: [...times(60, SHOWN), ...times(10, null)] }], [20])), [], 'a day is missing');
  t.same(
    alertsOf(keywordFacts([{ days: [...times(60, [10, 31] as const), ...times(10, null)] }])),
    [],
    'too far behind',
  );
  t.end();
});

t.test('a longer gap than usual is not a loss yet: twice the longest one and three days', (t) => {
  const days = [...times(30, SHOWN), ...times(4, null), ...times(30, SHOWN), ...times(20, null)];
  t.same(alertsOf(keywordFacts([{ days }])), [['keyword_lost', 'K0000', 63 + 11, null]]);
  t.end();
});

t.test('another page ranks', (t) => {
  const old: PageDay = { 'https://a.example/old': 8, 'https://a.example/other': 2 };
  const next: PageDay = { 'https://a.example/new': 9, 'https://a.example/old': 1 };
  const days = (count: number) => times(count, SHOWN);
  const change = keywordFacts([{ days: days(60), pages: [...times(35, old), ...times(8, next), ...times(17, old)] }]);
  // 60 % of a week: at 9 of 10 from the fifth day on. Back at 2 * 1 + 5 * 8 of 70.
  const [[type, , opened, resolved]] = alertsOf(change) as [[string, string, number, number]];
  t.equal(type, 'url_changed');
  t.equal(opened, 41);
  t.equal(resolved, 47);
  const { alerts } = replay(change, { from: 0, to: 59 });
  t.match(
    alerts[0]!.body,
    /went to https:\/\/a\.example\/new; in the 28 days before they went to https:\/\/a\.example\/old\. Resolved on \S+: https:\/\/a\.example\/old ranks again\.$/,
  );
  const split: PageDay = { 'https://a.example/new': 5, 'https://a.example/old': 5 };
  t.same(alertsOf(keywordFacts([{ days: days(60), pages: [...times(35, old), ...times(25, split)] }])), []);
  const stays = keywordFacts([{ days: days(90), pages: [...times(35, old), ...times(55, next)] }]);
  t.same(alertsOf(stays), [['url_changed', 'K0000', 41, 69]]);
  t.end();
});

t.test('another page ranks than the one that should', (t) => {
  const target = 'https://a.example/target';
  const pages = [...times(20, { 'https://a.example/x': 3 }), ...times(20, { [target]: 30 })];
  const facts = keywordFacts([
    { days: times(40, SHOWN), pages, target },
    { days: times(40, SHOWN), pages },
  ]);
  const [first, ...more] = alertsOf(facts);
  t.same(
    more.filter(([type]) => type === 'url_mismatch'),
    [],
    'only where a target is set',
  );
  // The first week ends on day 6; seven times running.
  t.same(first, ['url_mismatch', 'K0000', 12, 20]);
  const stays = keywordFacts([{ days: times(90, SHOWN), pages: times(90, { 'https://a.example/x': 3 }), target }]);
  t.same(alertsOf(stays), [['url_mismatch', 'K0000', 12, null]], 'it stays open however long it lasts');
  t.end();
});

t.test('many at once are one alert of each type', (t) => {
  const falls = { days: [...times(63, SHOWN), ...times(10, [10, 12] as const), ...times(20, SHOWN)] };
  const staysLonger = { days: [...times(63, SHOWN), ...times(14, [10, 12] as const), ...times(16, SHOWN)] };
  const quiet = { days: times(93, SHOWN) };
  const ten = alertsOf(keywordFacts([...times(10, falls), ...times(30, quiet)]));
  t.equal(ten.length, 10, 'ten are not many');
  const facts = keywordFacts([...times(21, falls), staysLonger, ...times(30, quiet)]);
  t.same(alertsOf(facts), [['keyword_drop', null, 66, 63 + 14 + 8]], 'it ends with the last of them');
  const { alerts } = replay(facts, { from: 0, to: 92 });
  t.equal(alerts[0]!.title, '22 keywords fell at once');
  t.match(alerts[0]!.body, /"query 0", "query 1", .*"query 19" and 2 more\./);
  t.notMatch(alerts[0]!.body, /query 20/);
  t.equal(alertsOf(keywordFacts([...times(12, falls), ...times(300, quiet)])).length, 12, '12 of 312 are not many');
  t.end();
});

t.test('an interrupted replay goes on where it was', (t) => {
  const day = fc.oneof(
    fc.constant<KeywordDay>(null),
    fc.tuple(
      fc.nat({ max: 20 }).map((n) => n + 1),
      fc.integer({ min: 1, max: 20 }),
    ),
  );
  // Weeks of the same day, so that something opens.
  const keyword = fc.array(day, { minLength: 16, maxLength: 16 }).map((weeks) => ({
    days: weeks.flatMap((each, week) => times(7, week < 9 ? SHOWN : each)),
  }));
  let opened = 0;
  fc.assert(
    fc.property(
      fc.array(keyword, { minLength: 12, maxLength: 16 }),
      fc.integer({ min: 63, max: 110 }),
      (keywords, at) => {
        const facts = keywordFacts(keywords);
        const whole = replay(facts, { from: 0, to: facts.days - 1 });
        const before = replay(facts, { from: 0, to: at });
        const states = JSON.parse(JSON.stringify(before.states())) as KeywordStates;
        const after = replay(facts, { from: at + 1, to: facts.days - 1 }, states);
        const ended = before.alerts.filter(({ resolvedOn }) => resolvedOn !== null);
        opened += whole.alerts.length;
        t.same(sorted([...ended, ...after.alerts]), sorted(whole.alerts));
      },
    ),
    { numRuns: 30 },
  );
  t.ok(opened > 30, `${opened} alerts opened`);
  t.end();
});

function sorted(alerts: readonly EvaluatedAlert[]): string[] {
  return alerts.map((alert) => JSON.stringify(Object.entries(alert).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
}

t.test('the main page of a window is found without looking at all of its rows', (t) => {
  const pages = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(9)), { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(pages, fc.nat(19), fc.nat(19), (days, one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const facts = keywordFacts([{ days: times(20, SHOWN), pages: days }]);
      const totals = new Map<string, number>();
      for (const day of days.slice(from, to + 1)) {
        for (const [page, shown] of Object.entries(day)) totals.set(page, (totals.get(page) ?? 0) + shown);
      }
      const impressions = [...totals.values()].reduce((sum, shown) => sum + shown, 0);
      const main = [...totals].find(([, shown]) => impressions > 0 && shown >= 0.6 * impressions)?.[0];
      const found = facts.mainPage(0, from, to);
      t.same({ ...found, page: facts.pages.urls.get(found.page ?? -1) }, { page: main, impressions });
    }),
  );
  t.end();
});

t.test('pages that cannot open an alert are not read, and no alert is missed', (t) => {
  const urls = ['a', 'b', 'c'] as const;
  // Times of one page, and of several; in some keywords one page is always far ahead.
  const stretch = fc.record({
    days: fc.integer({ min: 1, max: 40 }),
    shown: fc.array(fc.nat(20), SIZE(3)),
    only: fc.nat(5),
  });
  const keyword = fc.record({
    ahead: fc.nat(5),
    stretches: fc.array(stretch, SIZE(6)),
    target: fc.option(fc.constantFrom(...urls), { nil: undefined }),
  });
  const rowsOf = fc.infiniteStream(fc.nat());
  let opened = 0;
  let dropped = 0;
  fc.assert(
    fc.property(fc.array(keyword, { minLength: 3, maxLength: 3 }), rowsOf, (keywords, dice) => {
      const withDays = keywords.map(({ ahead, stretches, target }) => {
        const pages = stretches.flatMap(({ days, shown, only }) => {
          const ofUrl = (at: number): number => (at === ahead ? 70 : 0) + (only > 2 || only === at ? shown[at]! : 0);
          return times(days, Object.fromEntries(urls.map((url, at) => [url, ofUrl(at)])));
        });
        const own = Array.from({ length: 100 }, (_, day) => pages[day % pages.length]!);
        return { days: times(100, SHOWN), pages: own, ...(target === undefined ? {} : { target }) };
      });
      const facts = keywordFacts(withDays);
      const candidates = candidatesOf(facts, dice);
      const filtered = withDays.map((each, place) => {
        const canOpen = candidates.canOpen(place, facts.pages.targets[place]!);
        if (!canOpen) dropped++;
        return canOpen ? each : { ...each, pages: [] };
      });
      const alerts = alertsOf(facts);
      opened += alerts.length;
      return JSON.stringify(alertsOf(keywordFacts(filtered))) === JSON.stringify(alerts);
    }),
    { numRuns: 100 },
  );
  t.ok(opened > 50, `${opened} alerts opened`);
  t.ok(dropped > 20, `${dropped} keywords were left out`);
  t.end();
});

/** The rows of all pages, in pieces and in any order of these. */
function candidatesOf({ pages, keywords }: KeywordFacts, dice: Iterator<number>): PageCandidates {
  const candidates = new PageCandidates(new Map(keywords.map((_, place) => [place, place])));
  const pieces: number[][][] = [[]];
  for (let keyword = 0; keyword < keywords.length; keyword++) {
    for (let row = pages.starts[keyword]!; row < pages.starts[keyword + 1]!; row++) {
      pieces.at(-1)!.push([keyword, pages.days[row]!, pages.pages[row]!, pages.impressions[row]!]);
      if (dice.next().value % 400 === 0) pieces.push([]);
    }
  }
  const drawn = pieces.map((piece) => ({ piece, at: dice.next().value as number }));
  for (const { piece } of drawn.sort((a, b) => a.at - b.at)) {
    const columns = [0, 1, 2, 3].map((column) => Float64Array.from(piece, (row) => row[column]!));
    candidates.add(columns, piece.length);
  }
  return candidates;
}

t.test('days that are as ever open nothing', (t) => {
  const quiet = fc.record({
    before: fc.array(fc.option(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 30 }))), {
      maxLength: 60,
    }),
    // A week that repeats: some days with impressions, and one position for all of them.
    week: fc.array(fc.nat(40), { minLength: 7, maxLength: 7 }),
    position: fc.integer({ min: 1, max: 30 }),
    weeks: fc.integer({ min: 9, max: 25 }),
  });
  fc.assert(
    fc.property(quiet, ({ before, week, position, weeks }) => {
      const days = times(
        weeks,
        week.map((shown): KeywordDay => (shown === 0 ? null : [shown, position])),
      ).flat();
      const pages = [...before.map(() => ({})), ...days.map((day) => (day === null ? {} : { a: day[0] }))];
      const facts = keywordFacts([{ days: [...before, ...days], pages }]);
      return alertsOf(facts).every(([, , opened]) => (opened as number) < before.length + 62);
    }),
    { numRuns: 500 },
  );
  t.end();
});
