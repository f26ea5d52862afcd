// A rule defined by a user opens and resolves alerts exactly by its condition, and an invalid one is rejected.
import fc from 'fast-check';
import t from 'tap';
import { StoredDays } from '../../server/alerts/daily-sums.ts';
import { replayRule } from '../../server/alerts/rule-replay.ts';
import { userRule } from '../../server/alerts/user-rule.ts';
import { type AlertRule, alertRuleProblem } from '../../server/domain/alert-rules.ts';
import { PROVIDER_EVENTS } from '../../server/domain/provider-events.ts';
import { calendarOf, runningSums, times } from './facts.ts';

const RULE: AlertRule = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 70 };

function sumsOf(clicks: readonly number[], impressions = clicks.map(() => 100), missing: readonly number[] = []) {
  return {
    clicks: runningSums(clicks),
    impressions: runningSums(impressions),
    // Position 5 all along.
    positions: runningSums(impressions.map((shown) => shown * 4)),
    stored: new StoredDays(clicks.map((_, day) => !missing.includes(day))),
  };
}

/** Days on which alerts opened and resolved. */
function replay(rule: Partial<AlertRule>, clicks: readonly number[], missing: readonly number[] = []) {
  const calendar = calendarOf(clicks.length, [], PROVIDER_EVENTS);
  const named = { id: 'x', name: 'Few', severity: 'warning', about: 'the site', rule: { ...RULE, ...rule } } as const;
  const range = { from: 0, to: clicks.length - 1 };
  return replayRule(named, { sums: sumsOf(clicks, undefined, missing), calendar }, range).map((alert) => ({
    ...alert,
    days: [calendar.indexOf(alert.date), alert.resolvedOn && calendar.indexOf(alert.resolvedOn)],
  }));
}

t.test('a rule opens when its condition holds, and resolves when it does not', (t) => {
  const clicks = [...times(7, 10), 9, ...times(10, 10)];
  const [alert] = replay({}, clicks);
  t.same(alert!.days, [7, 14]);
  t.equal(alert!.title, 'Rule "Few": clicks of the site below 70: 69');
  t.match(alert!.body, /in the 7 days to 2026-06-08 were 69, below the rule's 70\. Resolved on 2026-06-15/);
  t.same(
    replay({ for: 3 }, clicks).map(({ days }) => days),
    [[9, 14]],
  );
  t.same(replay({ for: 8 }, clicks), []);
  t.same(
    replay({ for: 3 }, clicks, [1]).map(({ days }) => days),
    [[10, 14]],
    'no opinion for the first week',
  );
  t.same(
    replay({ resolve_at: 71 }, [...clicks, 10, 11]).map(({ days }) => days),
    [[7, 19]],
    'at or past that value',
  );
  t.end();
});

t.test('figures are compared with those of the days before, or of the year before', (t) => {
  const fall = [...times(7, 10), ...times(7, 8)];
  const falls = { against: 'previous', op: 'falls_by', unit: 'percent' } as const;
  t.same(
    replay({ ...falls, value: 20 }, fall).map(({ days }) => days),
    [[13, null]],
    'by exactly so much counts',
  );
  t.same(replay({ ...falls, value: 20.1 }, fall), []);
  // From 11 of 100 on, back from 10 of 100 on.
  const [day, later] = [times(6, 0), [1000, ...times(6, 0), 890, ...times(6, 0), 801]];
  t.same(
    replay({ ...falls, value: 11, resolve_at: 10 }, [...day, ...later]).map(({ days }) => days),
    [[13, 20]],
    'back at exactly that value',
  );
  t.same(
    replay({ ...falls, unit: 'absolute', value: 14 }, fall).map(({ days }) => days),
    [[13, null]],
  );
  t.same(replay({ ...falls, op: 'rises_by', value: 20 }, fall), []);
  t.equal(replay({ ...falls, value: 20 }, fall)[0]!.title, 'Rule "Few": clicks of the site fell by 20%: 56 against 70');
  t.same(replay({ ...falls, value: 1 }, [...times(7, 0), ...times(7, 0)]), [], 'no percentage of nothing');
  const year = { against: 'year', op: 'falls_by', unit: 'percent', value: 50 } as const;
  t.same(
    replay(year, [...times(7, 10), ...times(357, 100), ...times(7, 5)]).map(({ days }) => days),
    [[370, null]],
  );
  t.end();
});

t.test('ratios need impressions, and are not compared across provider events', (t) => {
  const rule: AlertRule = { ...RULE, metric: 'ctr', window: '1d', value: 5, unit: 'percent' };
  t.match(userRule(rule, sumsOf([4]), 0), { figure: 0.04, opens: true });
  t.match(userRule({ ...rule, value: 4 }, sumsOf([4]), 0), { opens: false, isBack: true });
  t.equal(userRule(rule, sumsOf([0], [0]), 0), undefined);
  t.equal(userRule({ ...rule, min_impressions: 101 }, sumsOf([4]), 0), undefined);
  t.match(userRule({ ...rule, min_impressions: 100 }, sumsOf([4]), 0), { opens: true });
  t.match(userRule({ ...rule, metric: 'position', unit: 'absolute', value: 6 }, sumsOf([4]), 0), {
    figure: 5,
    opens: true,
  });
  const position = { metric: 'position', op: 'rises_by', unit: 'absolute', value: 1, against: 'previous' } as const;
  const event = {
    title: '',
    kind: 'span',
    affects: ['position'],
    device: null,
    announcedOn: null,
    source: '',
  } as const;
  const calendar = calendarOf(20, [], [{ ...event, from: '2026-01-01', to: '2026-06-08' }]);
  const sums = { ...sumsOf(times(20, 1)), positions: runningSums([...times(8, 400), ...times(12, 900)]) };
  const named = { id: 'x', name: 'Worse', severity: 'warning', about: 'the site' } as const;
  const opens = (rule: AlertRule) =>
    replayRule({ ...named, rule }, { sums, calendar }, { from: 0, to: 19 }).map(({ date }) => date);
  t.same(opens({ ...RULE, ...position, window: '3d' }), [], 'all comparisons that differ cross the edge');
  // Clicks, impressions and ctr double on the day after its last one; only clicks were counted in the same way.
  const doubled = { ...sums, clicks: runningSums([...times(8, 100), ...times(12, 400)]) };
  doubled.impressions = runningSums([...times(8, 1000), ...times(12, 2000)]);
  for (const [metric, days] of [
    ['clicks', ['2026-06-09']],
    ['impressions', []],
    ['ctr', []],
  ] as const) {
    const rule = {
      ...RULE,
      metric,
      op: 'rises_by',
      unit: 'percent',
      value: 10,
      against: 'previous',
      window: '3d',
    } as const;
    const found = replayRule({ ...named, rule }, { sums: doubled, calendar }, { from: 0, to: 19 });
    t.same(
      found.map(({ date }) => date),
      days,
      metric,
    );
  }
  t.same(
    opens({ ...RULE, metric: 'position', op: 'gt', window: '3d', value: 9 }),
    ['2026-06-11'],
    'the first window behind it',
  );
  t.end();
});

t.test('what is wrong with a rule is named', (t) => {
  t.equal(alertRuleProblem(RULE), undefined);
  const wrong: readonly [object, RegExp][] = [
    [{ scope: 'page' }, /^scope must be one of site, group, keyword, page_group, not "page"/],
    [{ scope: 'group' }, /^id must be that of a group, five letters or digits, not nothing/],
    [{ id: 'Abcde' }, /^a rule of scope site has no id/],
    [{ metric: 'visits' }, /^metric must be one of/],
    [{ window: '7' }, /^window must be a number of days from 1d to 364d, such as 7d, not "7"/],
    [{ window: '365d' }, /^window/],
    [{ against: 'month' }, /^against must be one of value, previous, year/],
    [{ op: 'falls_by' }, /^op against "value" must be one of lt, gt, not "falls_by"/],
    [{ against: 'year' }, /^op against "year" must be one of falls_by, rises_by, not "lt"/],
    [{ value: '7' }, /^value must be a number, not "7"/],
    [{ against: 'year', op: 'falls_by' }, /^unit must be one of percent, absolute, not nothing/],
    [{ against: 'year', op: 'falls_by', unit: 'percent', value: 0 }, /^value of falls_by must be more than 0/],
    [{ unit: 'percent' }, /^unit percent against a value is for ctr alone/],
    [{ min_impressions: -1 }, /^min_impressions must be a whole number from 0, not -1/],
    [{ for: 0 }, /^for must be a whole number from 1 to 90, not 0/],
    [{ resolve_at: 60 }, /^resolve_at of lt must be at least the value 70, not 60/],
    [{ op: 'gt', resolve_at: 80 }, /^resolve_at of gt must be at most the value 70, not 80/],
    [{ limit: 1 }, /^unknown field "limit"; a field is one of scope, id,/],
  ];
  for (const [more, problem] of wrong) t.match(alertRuleProblem({ ...RULE, ...more }), problem);
  for (const value of [null, [], 'x', 7]) t.match(alertRuleProblem(value), /^a rule must be an object/);
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof (alertRuleProblem(value) ?? '') === 'string'));
  t.end();
});
