// Alerts depend on final stored days alone, not on when and in which order these were loaded or evaluated.
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { hoursOf } from '../../server/domain/hours.ts';
import { evaluateAlerts } from '../../server/jobs/evaluate-alerts.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { command } from '../command.ts';
import { Random } from '../random.ts';
import { localOnly } from '../stores.ts';
import {
  facts,
  keyword,
  makeLazyWorld,
  PROJECT,
  type Row,
  temporaryFolder,
  WORKSPACE,
  writeSnapshot,
} from '../world.ts';
import {
  ALL_FACTS,
  alertsOf,
  DAYS,
  evaluate,
  factsOf,
  KEYWORDS,
  LAST,
  makeAlertWorld,
  NOW,
  projectUntil,
  START,
  shorten,
} from './world.ts';

const EXPECTED = [
  ['keyword_drop', 'KwBbb', 88, 'warning', true],
  ['keyword_lost', 'KwCcc', 98, 'warning', true],
  ['traffic_drop', null, 93, 'critical', true],
  ['url_changed', 'KwAaa', 86, 'info', true],
  ['url_mismatch', 'KwAaa', 90, 'info', true],
];
/** What EXPECTED has of the facts up to day 89. */
const [DROP, , , CHANGED] = EXPECTED;
const RULE = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
const STORED = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', project_id: 'Proj1', name: 'Few clicks', rule: RULE };

/** Ten clicks an hour, and none but one at noon of some hours of the days 103 and 107. */
function hoursFrom(from: number, to: number): Row[] {
  return eachDay(addDays(START, from), addDays(START, to)).flatMap((date, at) =>
    hoursOf(date).flatMap((start, hour) => {
      const isStopped = [103, 107].includes(from + at) && hour > 3;
      const clicks = isStopped ? Number(hour === 12) : 10;
      const numbers = { clicks, impressions: 10 * clicks, sum_position: 0 };
      return clicks === 0 ? [] : [{ project_id: 'Proj1', date, hour: new Date(start).toISOString(), ...numbers }];
    }),
  );
}

t.test('it does not matter in which order facts were loaded, or in how many loads', async (t) => {
  const whole = await makeAlertWorld(t, { ...ALL_FACTS, site_hourly: hoursFrom(0, DAYS - 1) });
  t.same((await evaluate(whole))!.range, { from: addDays(LAST, -42), to: LAST });
  const expected = await alertsOf(whole);
  t.same(shorten(expected), [
    ['hourly_stop', null, 103, 'critical', false],
    ['hourly_stop', null, 107, 'critical', false],
    ...EXPECTED,
  ]);
  const parts = await makeAlertWorld(t);
  const dice = new Random(Number(process.env['ORDINATE_TEST_SEED'] ?? 1));
  const cuts = [dice.whole(1, 40), dice.whole(41, 80), dice.whole(81, DAYS - 1)];
  for (const at of dice.shuffled([0, 1, 2, 3])) {
    const [from, to] = [cuts[at - 1] ?? 0, (cuts[at] ?? DAYS) - 1] as const;
    await parts.load({ ...factsOf(from, to), site_hourly: hoursFrom(from, to) });
    await evaluate(parts);
  }
  t.same(await alertsOf(parts), expected, `cut at ${cuts.join(', ')}`);

  const daily = await makeAlertWorld(t);
  let next = 0;
  for (const last of [84, 85, 86, 91, 92, 93, 100, 104, DAYS - 1]) {
    const day = addDays(START, last);
    const rows = { ...factsOf(next, last), site_hourly: hoursFrom(next, last) };
    await daily.load({ projects: [projectUntil(day)], ...rows });
    await evaluate(daily, { now: () => Date.parse(`${day}T12:00:00Z`) + 86_400_000 });
    next = last + 1;
  }
  await evaluate(daily);
  t.same(await alertsOf(daily), expected, 'a day or some at a time');
});

t.test('a replay up to a day says what was known then', async (t) => {
  const world = await makeAlertWorld(t, ALL_FACTS);
  await evaluate(world);
  const dry = (await evaluate(world, { asOf: addDays(START, 89), dryRun: true }))!;
  t.same([dry.alerts.map(({ type }) => type).sort(), dry.removed.length], [['keyword_drop', 'url_changed'], 3]);
  t.same(shorten(await alertsOf(world)), EXPECTED, 'a dry run changes nothing');
  await evaluate(world, { asOf: addDays(START, 89) });
  t.same(shorten(await alertsOf(world)), [DROP, CHANGED]);
  await evaluate(world, { asOf: addDays(LAST, 30) });
  t.same(shorten(await alertsOf(world)), EXPECTED, 'and no further than to the last final day');
});

t.test('alerts of a snapshot are its own, and a replacing load never touches ours', async (t) => {
  const id = (n: number): string => `0a1b2c3d-0000-4000-8000-00000000000${n}`;
  const theirs = { project_id: 'Proj1', type: 'traffic_drop', kind: 'Theirs', severity: 'info', title: 'Elsewhere' };
  const alert = { ...theirs, id: id(1), body: '', created_at: '2026-08-01T00:00:00Z' };
  const world = await makeAlertWorld(t, { ...ALL_FACTS, alerts: [alert] });
  await evaluate(world);
  await world.load({ alerts: [{ ...alert, id: id(2) }] }, { replace: true });
  await world.load({ alerts: [] }, { replace: true });
  const left = Object.groupBy(await alertsOf(world), ({ kind }) => (kind === 'Theirs' ? 'theirs' : 'ours'));
  t.same([left.theirs!.map((one) => one['id']), shorten(left.ours!)], [[id(2)], EXPECTED]);
});

t.test('a long history is settled but for its last part, and goes on from there', async (t) => {
  const days = 900;
  const first = '2024-01-01';
  const last = addDays(first, days - 1);
  const rowsOf = (columns: string, row: (day: number) => readonly unknown[]): Row[] =>
    facts(columns, ...Array.from({ length: days }, (_, day) => [addDays(first, day), ...row(day)]));
  // Alerts are open when the days up to 599 are settled: of the site, of a keyword, and of its page.
  const isBad = (day: number): boolean => [200, 592, 880].some((drop) => day >= drop && day < drop + 12);
  const page = (day: number): string => `https://shop.example/${isBad(day) ? 'new' : 'old'}`;
  const tables = {
    projects: [{ ...PROJECT, synced_through: last, provisional_after: last }],
    keywords: [keyword('KwAaa', 'boots')],
    site_daily: rowsOf('date device', (day) => ['mobile', isBad(day) ? 3 : 20, 100, 100]),
    keyword_daily: rowsOf('date keyword_id device', (day) => ['KwAaa', 'mobile', 1, 9, isBad(day) ? 150 : 27]),
    keyword_page_daily: rowsOf('date keyword_id url', (day) => ['KwAaa', page(day), 1, 9, 9]),
  };
  const world = await makeLazyWorld(t, tables, { now: NOW });
  await evaluate(world, { asOf: addDays(first, 110) });
  t.equal((await evaluate(world))!.range.from, addDays(first, 68), 'everything since the first evaluated day');
  const before = await alertsOf(world);
  const counts = Map.groupBy(before, ({ type }) => String(type));
  const found = Object.fromEntries([...counts].map(([type, all]) => [type, all.length]));
  t.same(found, { traffic_drop: 3, keyword_drop: 2, url_changed: 3 });
  t.equal((await evaluate(world))!.range.from, addDays(last, -299), 'the rest is settled');
  t.same(await alertsOf(world), before);
});

t.test('a rebuilt catalog has the rules, and the alerts are evaluated again', localOnly, async (t) => {
  const world = await makeAlertWorld(t, { ...ALL_FACTS, alert_rules: [STORED] });
  await evaluate(world);
  const before = await alertsOf(world);
  const copy = `${world.dataFolder}-copy`;
  cpSync(world.dataFolder, copy, { recursive: true });
  for (const end of ['', '-wal', '-shm']) rmSync(join(copy, `catalog.sqlite${end}`), { force: true });
  await rebuild(copy);
  await using catalog = await openCatalog(sqliteIn(copy));
  const { opened } = (await evaluate({ ...world, catalog, settings: { ...world.settings, dataFolder: copy } }))!;
  const ids = (all: readonly { readonly id?: unknown }[]): string[] => all.map(({ id }) => String(id)).sort();
  t.same(ids(opened), ids(before), 'the same, by their ids');
});

t.test('a load evaluates what it has changed, and stands where that fails', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  const entities = { workspaces: [WORKSPACE], projects: [projectUntil(LAST)], keywords: KEYWORDS };
  const snapshot = writeSnapshot(t, { ...entities, ...factsOf(0, 97) });
  const settings = { ORDINATE_DATA: dataFolder };
  const first = await command(settings, 'load', snapshot);
  t.match(first.stdout, /Alerts: 4 opened, 0 resolved\.\n$/, first.stderr);
  t.match(JSON.parse((await command(settings, 'load', snapshot, '--json')).stdout), {
    alerts: { opened: 0, resolved: 0 },
  });

  // Where temporary files should lie there is something else.
  const broken = writeSnapshot(t, factsOf(98, DAYS - 1));
  writeFileSync(join(dataFolder, 'temporary.txt'), '');
  rmSync(join(dataFolder, 'temporary'), { recursive: true });
  renameSync(join(dataFolder, 'temporary.txt'), join(dataFolder, 'temporary'));
  const stands = await command(settings, 'load', broken);
  t.equal(stands.code, 0);
  t.match(stands.stdout, /Warning: Alerts were not evaluated: .* 'ordinate alerts evaluate' tries again\./);
  t.match(stands.stdout, /Loaded\. Projects: Proj1/);
  rmSync(join(dataFolder, 'temporary'));
  const again = await command(settings, 'alerts', 'evaluate');
  t.match(again.stdout, /Proj1: \S+ to 2026-08-18; 1 opened/, again.stderr);
  writeFileSync(join(dataFolder, 'rule.json'), JSON.stringify({ ...RULE, value: 29 }));
  const words = ['rules', 'test', '--project', 'Proj1', '--file', join(dataFolder, 'rule.json')];
  t.match(await command(settings, ...words), { code: 0, stdout: `${addDays(START, 96)}\n` }, 'a rule in a file');
});

t.test('the background job evaluates projects that have changed, and no others', async (t) => {
  const world = await makeAlertWorld(t);
  const run = () => {
    const { settings, catalog } = world;
    const log = { debug() {}, info() {}, warn() {}, error() {} } as never;
    const context = { settings, catalog, log, now: () => NOW, report: () => {} };
    return evaluateAlerts.run(context, new AbortController().signal);
  };
  t.same(await run(), {}, 'nothing is stored yet');
  await world.load(factsOf(0, DAYS - 1));
  t.same(await run(), { projects: 1, opened: 5, resolved: 0 });
  t.same(await run(), {});
  await world.load({ keywords: [{ ...KEYWORDS[1], archived: true }] });
  t.same(await run(), { projects: 1, opened: 0, resolved: 1 });
});
