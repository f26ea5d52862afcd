// Alerts depend only on final stored days, and not on the order in which these were loaded.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { isNight } from '../night.ts';
import { type LazyWorld, makeLazyWorld, PROJECT, type Row } from '../world.ts';
import {
  ALL_FACTS,
  alertsOf,
  DAYS,
  evaluate,
  factsOf,
  LAST,
  makeAlertWorld,
  NOW,
  projectUntil,
  START,
  shorten,
  TARGET,
} from './world.ts';

const EXPECTED = [
  ['keyword_drop', 'KwBbb', 88, 'warning', true],
  ['keyword_lost', 'KwCcc', 98, 'warning', true],
  ['traffic_drop', null, 93, 'critical', true],
  ['url_changed', 'KwAaa', 86, 'info', true],
  ['url_mismatch', 'KwAaa', 90, 'info', true],
];

t.test('an evaluation makes the alerts of the last 42 days, and the API has them', async (t) => {
  const note = { workspace_id: 'acme', project_id: 'Proj1', date: addDays(START, 85), author: 'Ada' };
  const at = { created_at: '2026-07-01T00:00:00Z', updated_at: '2026-07-01T00:00:00Z' };
  const id = '6f1c2e0a-0b1d-4c7e-9a55-00000000000';
  const world = await makeAlertWorld(t, {
    ...ALL_FACTS,
    groups: [{ project_id: 'Proj1', id: 'Group', name: 'Worn', kind: 'manual', position: 1 }],
    notes: [
      { ...note, ...at, id: `${id}1`, scope: 'project', category: 'migration', text: 'To another host.' },
      { ...note, ...at, id: `${id}2`, scope: 'keyword', keyword_id: 'KwAaa', category: 'technical', text: 'Of boots.' },
      { ...note, ...at, id: `${id}3`, scope: 'group', group_id: 'Group', category: 'technical', text: 'Of a group.' },
      { ...note, ...at, id: `${id}4`, scope: 'project', category: 'launch', text: 'Something new.' },
      // Of the week of days 82 to 88, on which the keyword fell.
      ...(
        [
          [70, 81, 'Over before.'],
          [81, 82, 'To its first day.'],
          [70, 100, 'Around it.'],
          [88, 95, 'From its last day.'],
          [89, 90, 'Behind it.'],
        ] as const
      ).map(([from, to, text], index) => {
        const days = { date: addDays(START, from), end_date: addDays(START, to) };
        return { ...note, ...at, ...days, id: `${id}${5 + index}`, scope: 'project', category: 'technical', text };
      }),
    ],
  });
  const evaluation = (await evaluate(world))!;
  t.same(evaluation.range, { from: addDays(LAST, -42), to: LAST });
  t.same(shorten(await alertsOf(world)), EXPECTED);
  const { alerts } = (await world.ask('/alerts')).body as { alerts: Row[] };
  const drop = alerts.find(({ type }) => type === 'keyword_drop');
  t.match(drop, { kind: 'Keyword drop', url: null, resolvedAt: null, title: '"shoes" fell from position 5.0 to 10.7' });
  t.match(String(drop!['createdAt']), /^2026-09-01T12:00:00/);
  t.strictSame(String(drop!['body']).split(' Noted ').slice(1), [
    '(technical, 2026-07-10 to 2026-08-09): Around it.',
    '(technical, 2026-07-21 to 2026-07-22): To its first day.',
    '(migration, 2026-07-25): To another host.',
    '(technical, 2026-07-28 to 2026-08-04): From its last day.',
  ]);
  t.match(
    alerts.find(({ type }) => type === 'url_changed')!['body'],
    /went to https:\/\/shop\.example\/sale; in the 28 days/,
  );
  const mismatch = alerts.find(({ type }) => type === 'url_mismatch')!['body'];
  t.match(mismatch, new RegExp(`should rank is ${TARGET}\\. Noted .*To another host\\. Noted .*: Of boots\\.`));
  t.notMatch(mismatch, /Of a group|Something new/);

  const again = (await evaluate(world))!;
  t.same([again.opened, again.changed, again.removed], [[], [], []], 'nothing is new');
});

/** Random orders per test run; each takes up to four loads. */
const RUNS = Number(process.env['ORDINATE_TEST_RUNS'] ?? (isNight ? 2 : 1));

/** All days in two to four parts, in any order. */
const loads = fc
  .uniqueArray(fc.integer({ min: 1, max: DAYS - 1 }), { minLength: 1, maxLength: 3 })
  .map((cuts) => {
    const starts = [0, ...cuts.sort((a, b) => a - b)];
    return starts.map((from, at): [number, number] => [from, (starts[at + 1] ?? DAYS) - 1]);
  })
  .chain((parts) => fc.shuffledSubarray(parts, { minLength: parts.length, maxLength: parts.length }));

t.test('it does not matter in which order facts were loaded, or in how many loads', async (t) => {
  const whole = await makeAlertWorld(t, ALL_FACTS);
  await evaluate(whole);
  const expected = await alertsOf(whole);
  t.same(shorten(expected), EXPECTED);
  await fc.assert(
    fc.asyncProperty(loads, async (parts) => {
      const world = await makeAlertWorld(t);
      for (const [from, to] of parts) {
        await world.load(factsOf(from, to));
        await evaluate(world);
      }
      return isDeepStrictEqual(await alertsOf(world), expected);
    }),
    { numRuns: RUNS },
  );

  const daily = await makeAlertWorld(t);
  let next = 0;
  for (const last of [84, 85, 86, 91, 92, 93, 100, DAYS - 1]) {
    await daily.load({ projects: [projectUntil(addDays(START, last))], ...factsOf(next, last) });
    await evaluate(daily);
    next = last + 1;
  }
  t.same(await alertsOf(daily), expected, 'a day or some at a time');
});

t.test('only final days are evaluated, and missing days silence', async (t) => {
  const world = await makeAlertWorld(t, {
    projects: [{ ...projectUntil(LAST), provisional_after: addDays(START, 87) }],
    ...ALL_FACTS,
  });
  await evaluate(world);
  t.same(shorten(await alertsOf(world)), [['url_changed', 'KwAaa', 86, 'info', true]]);

  const gap = await makeAlertWorld(t);
  await gap.load(factsOf(0, 69));
  await gap.load(factsOf(71, DAYS - 1));
  await evaluate(gap);
  const alerts = shorten(await alertsOf(gap)) as unknown[][];
  t.same(
    alerts.map(([type]) => type),
    ['url_mismatch'],
    'a week needs no more than itself',
  );
});

t.test('a replay up to a day says what was known then', async (t) => {
  const world = await makeAlertWorld(t, ALL_FACTS);
  await evaluate(world);
  const dry = (await evaluate(world, { asOf: addDays(START, 89), dryRun: true }))!;
  t.same(dry.alerts.map(({ type }) => type).sort(), ['keyword_drop', 'url_changed']);
  t.equal(dry.removed.length, 3);
  t.same(shorten(await alertsOf(world)), EXPECTED, 'a dry run changes nothing');
  await evaluate(world, { asOf: addDays(START, 89) });
  t.same(shorten(await alertsOf(world)), [EXPECTED[0], EXPECTED[3]]);
  await evaluate(world, { asOf: addDays(LAST, 30) });
  t.same(shorten(await alertsOf(world)), EXPECTED, 'and no further than to the last final day');
});

t.test('alerts resolve with the text that says why, and open again later', async (t) => {
  const world = await makeAlertWorld(t);
  const healed = factsOf(0, 79).site_daily.map((row) => ({ ...row, date: addDays(String(row['date']), 100) }));
  await world.load({ projects: [projectUntil(addDays(START, 150))], ...factsOf(0, 99) });
  await evaluate(world, { asOf: addDays(START, 99) });
  t.ok(
    shorten(await alertsOf(world)).every((alert) => (alert as unknown[])[4]),
    'all are open',
  );
  await world.load({ site_daily: healed });
  await evaluate(world);
  const traffic = (await alertsOf(world)).find(({ type }) => type === 'traffic_drop')!;
  t.equal(traffic['isOpen'], false);
  t.match(traffic['body'], /Resolved on 2026-08-1\d: clicks are back at \d+% of the usual week\.$/);
});

t.test('alerts of a snapshot are its own, and a replacing load never touches ours', async (t) => {
  const alert = {
    id: '0a1b2c3d-0000-4000-8000-000000000001',
    project_id: 'Proj1',
    type: 'traffic_drop',
    kind: 'Theirs',
    severity: 'info',
    title: 'From elsewhere',
    body: '',
    created_at: '2026-08-01T00:00:00Z',
  };
  const world = await makeAlertWorld(t, { ...ALL_FACTS, alerts: [alert] });
  await evaluate(world);
  t.equal((await alertsOf(world)).length, EXPECTED.length + 1);
  await world.load({ alerts: [{ ...alert, id: '0a1b2c3d-0000-4000-8000-000000000002' }] }, { replace: true });
  await world.load({ alerts: [] }, { replace: true });
  const left = await alertsOf(world);
  t.same(
    left.filter(({ kind }) => kind === 'Theirs').map(({ id }) => id),
    ['0a1b2c3d-0000-4000-8000-000000000002'],
  );
  t.same(shorten(left.filter(({ kind }) => kind !== 'Theirs')), EXPECTED);
});

t.test('the database holds one open alert of each subject', async (t) => {
  const world = await makeAlertWorld(t, ALL_FACTS);
  await evaluate(world);
  const db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  t.teardown(() => db.close());
  const columns = 'project_id, type, subject, basis, kind, severity, title, body, date, keyword_id, url, created_at';
  const copy = (resolved: string): void => {
    db.exec(`insert into evaluated_alerts (id, ${columns}, resolved_at)
      select id || 'x', ${columns}, ${resolved} from evaluated_alerts where type = 'keyword_drop'`);
  };
  t.throws(() => copy('null'), /UNIQUE/);
  t.doesNotThrow(() => copy('7'));
});

t.test('a long history is settled but for its last part, and goes on from there', async (t) => {
  const days = 900;
  const first = '2024-01-01';
  const site = Array.from({ length: days }, (_, day) => {
    // An alert is open when the days up to 599 are settled.
    const clicks = [200, 592, 880].some((drop) => day >= drop && day < drop + 12) ? 3 : 20;
    const row = { project_id: 'Proj1', date: addDays(first, day), device: 'mobile', clicks };
    return { ...row, impressions: 100, sum_position: 100 };
  });
  const last = addDays(first, days - 1);
  const world = await makeLazyWorld(
    t,
    { projects: [{ ...PROJECT, synced_through: last, provisional_after: last }], site_daily: site },
    { now: NOW },
  );
  await evaluate(world, { asOf: addDays(first, 110) });
  const whole = (await evaluate(world))!;
  t.equal(whole.range.from, addDays(first, 68), 'everything since the first evaluated day');
  const before = await alertsOf(world);
  t.equal(before.length, 3);
  const again = (await evaluate(world))!;
  t.equal(again.range.from, addDays(last, -299), 'the rest is settled');
  t.same(await alertsOf(world), before);
});

t.test('projects without a final day are not evaluated', async (t) => {
  const world = await makeAlertWorld(t, { projects: [{ ...PROJECT, synced_through: null, provisional_after: null }] });
  await world.load(factsOf(0, 3));
  t.equal(await evaluate(world), undefined);
});

/** Writes what the sync knows of days: table, day, state, whether it is cut off. */
function putSyncDays({ dataFolder }: LazyWorld, days: readonly (readonly [string, string, string, number])[]): void {
  const db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
  const insert = db.prepare(`insert into sync_days (project_id, fact_table, day, state, final, cut_off, rows, clicks,
    impressions, digest, compared, fetched_at, attempts) values ('Proj1', ?, ?, ?, 1, ?, 1, 1, 1, '', 0, 0, 1)`);
  for (const each of days) insert.run(...each);
  db.close();
}

t.test('days that the sync has cut off or could not fetch are missing, and its empty ones are not', async (t) => {
  const evaluateWith = async (
    facts: Readonly<Record<string, readonly Row[]>>,
    days: Parameters<typeof putSyncDays>[1],
  ) => {
    const world = await makeAlertWorld(t, facts);
    putSyncDays(world, days);
    return (await evaluate(world))!.alerts.map(({ type }) => type).sort();
  };
  const all = ALL_FACTS;
  const day = addDays(START, 70);
  t.same(await evaluateWith(all, [['keyword_daily', day, 'done', 1]]), ['traffic_drop', 'url_changed', 'url_mismatch']);
  t.same(await evaluateWith(all, [['keyword_page_daily', day, 'failed', 0]]), [
    'keyword_drop',
    'keyword_lost',
    'traffic_drop',
    'url_mismatch',
  ]);
  const without = { site_daily: all.site_daily.filter(({ date }) => date !== day) };
  t.same(await evaluateWith(without, []), []);
  t.same(await evaluateWith(without, [['site_daily', day, 'empty', 0]]), ['traffic_drop']);
});

t.test('keywords whose loads stop while those of the site go on are unknown, and not lost', async (t) => {
  const facts = ALL_FACTS;
  const without = (from: number, to: number): typeof facts => {
    const isLoaded = ({ date }: Row): boolean =>
      String(date) < addDays(START, from) || String(date) > addDays(START, to);
    const { site_daily, keyword_daily, keyword_page_daily } = facts;
    return {
      site_daily,
      keyword_daily: keyword_daily.filter(isLoaded),
      keyword_page_daily: keyword_page_daily.filter(isLoaded),
    };
  };
  const evaluateWith = async (own: typeof facts, days: Parameters<typeof putSyncDays>[1] = []): Promise<unknown> => {
    const world = await makeAlertWorld(t, own);
    putSyncDays(world, days);
    await evaluate(world);
    return shorten(await alertsOf(world));
  };
  const [drop, , traffic, changed, mismatch] = EXPECTED;
  t.same(await evaluateWith(without(91, DAYS - 1)), [drop, traffic, changed, mismatch], 'they have stopped');
  t.same(await evaluateWith(without(92, 99)), [drop, traffic, changed, mismatch], 'they have gone on');
  t.same(
    await evaluateWith(without(50, 55)),
    [drop, ['keyword_lost', 'KwCcc', 91 + 2 * 6 + 3, 'warning', true], traffic, changed, mismatch],
    'fewer than a week are empty: a longer gap than before',
  );
  const empty = Array.from(
    { length: DAYS - 91 },
    (_, day) => ['keyword_daily', addDays(START, 91 + day), 'empty', 0] as const,
  );
  t.same(
    await evaluateWith(without(91, DAYS - 1), empty),
    [
      drop,
      ...['KwAaa', 'KwBbb', 'KwCcc'].map((keyword) => ['keyword_lost', keyword, 97, 'warning', true]),
      traffic,
      changed,
      mismatch,
    ],
    'the sync knows that there was nothing',
  );
});

t.test('an alert that corrected facts no longer have is removed, also one of the first evaluated day', async (t) => {
  const rule = { scope: 'site', metric: 'clicks', window: '1d', against: 'value', op: 'lt', value: 100 };
  const stored = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', project_id: 'Proj1', name: 'Few clicks', rule };
  const { site_daily } = ALL_FACTS;
  const world = await makeAlertWorld(t, { site_daily, alert_rules: [stored] });
  await evaluate(world, { asOf: addDays(START, 60) });
  const expected = [['rule', null, 60 - 42, 'warning', true]];
  t.same(shorten(await alertsOf(world)), expected);
  await evaluate(world);
  t.same(
    shorten(await alertsOf(world)).filter((alert) => (alert as unknown[])[0] === 'rule'),
    expected,
    'the rule is replayed from its first day on',
  );
  await world.load({ site_daily: site_daily.map((row) => ({ ...row, clicks: 100 })) });
  await evaluate(world);
  t.same(await alertsOf(world), []);
});

t.test('rules of users say nothing about days that the sync has cut off', async (t) => {
  const rule = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
  const stored = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', project_id: 'Proj1', name: 'Few clicks', rule };
  const world = await makeAlertWorld(t, { site_daily: ALL_FACTS.site_daily, alert_rules: [stored] });
  putSyncDays(world, [['site_daily', addDays(START, 92), 'done', 1]]);
  await evaluate(world);
  t.same(shorten(await alertsOf(world)), [['rule', null, 99, 'warning', true]], 'otherwise on day 92');
});
