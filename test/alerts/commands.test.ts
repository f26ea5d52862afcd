// Operators can evaluate, list and test alert rules by command, and alerts are updated after every load.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { evaluateAlerts } from '../../server/jobs/evaluate-alerts.ts';
import { command } from '../command.ts';
import { type LazyWorld, type Row, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import {
  ALL_FACTS,
  alertsOf,
  DAYS,
  factsOf,
  KEYWORDS,
  LAST,
  makeAlertWorld,
  NOW,
  projectUntil,
  START,
} from './world.ts';

const RULE = {
  ...{ scope: 'site', metric: 'clicks', window: '7d' },
  ...{ against: 'previous', op: 'falls_by', value: 50, unit: 'percent' },
};
const settingsOf = ({ dataFolder }: LazyWorld): NodeJS.ProcessEnv => ({ ORDINATE_DATA: dataFolder });

t.test('alerts evaluate prints what it found, for people and for programs', async (t) => {
  const world = await makeAlertWorld(t, ALL_FACTS);
  const settings = settingsOf(world);
  const dry = await command(settings, 'alerts', 'evaluate', '--dry-run', '--as-of', addDays(START, 89), '--json');
  t.equal(dry.code, 0, dry.stderr);
  const [found] = JSON.parse(dry.stdout) as { alerts: Row[]; opened: string[]; evaluatedThrough: string }[];
  t.equal(found!.evaluatedThrough, addDays(START, 89));
  t.same(found!.alerts.map(({ type }) => String(type)).sort(), ['keyword_drop', 'url_changed']);
  t.equal(found!.opened.length, 2);
  t.same(await alertsOf(world), []);

  const { code, stdout } = await command(settings, 'alerts', 'evaluate', '--project', 'Proj1');
  t.equal(code, 0);
  t.match(stdout, /Proj1 +2026-07-28 +keyword_drop +warning +"shoes" fell from position 5\.0 to 10\.7/);
  t.match(stdout, /Proj1: 2026-07-07 to 2026-08-18; 5 opened, 0 changed, 0 removed\./);
  t.equal((await alertsOf(world)).length, 5);

  const wrongDay = await command(settings, 'alerts', 'evaluate', '--as-of', '2026-02-30');
  t.match([wrongDay.code, wrongDay.stderr], [1, /calendar day/]);
  const nobody = await command(settings, 'alerts', 'evaluate', '--project', 'Nope1');
  t.match([nobody.code, nobody.stderr], [1, /no project 'Nope1'/]);
});

t.test('rules are added, listed, tested and removed', async (t) => {
  const world = await makeAlertWorld(t, ALL_FACTS);
  const settings = settingsOf(world);
  const rule = JSON.stringify(RULE);
  const words = ['rules', 'add', '--project', 'Proj1', '--name', 'Half', '--rule', rule, '--json'];
  const added = await command(settings, ...words);
  t.equal(added.code, 0, added.stderr);
  const { id } = (JSON.parse(added.stdout) as { rule: { id: string } }).rule;
  t.match((await command(settings, 'rules', 'list', '--project', 'Proj1')).stdout, new RegExp(`${id} +Proj1 +Half`));
  t.same(JSON.parse((await command(settings, 'rules', 'list', '--json')).stdout), [
    { id, project: 'Proj1', name: 'Half', rule: RULE, severity: 'warning', enabled: true },
  ]);
  const days = (await command(settings, 'rules', 'test', id)).stdout;
  t.equal(days, `${addDays(START, 94)}\n`);
  const file = join(temporaryFolder(t), 'rule.json');
  writeFileSync(file, rule);
  const given = await command(settings, 'rules', 'test', '--project', 'Proj1', '--file', file, '--json');
  t.same(JSON.parse(given.stdout), { from: addDays(LAST, -364), to: LAST, days: [addDays(START, 94)] });

  await command(settings, 'alerts', 'evaluate');
  const half = async (): Promise<Row | undefined> => (await alertsOf(world)).find(({ type }) => type === 'rule');
  t.match(await half(), {
    date: addDays(START, 94),
    kind: 'Alert rule',
    title: /^Rule "Half": clicks of the site fell by 5\d%/,
  });
  t.match((await command(settings, 'rules', 'remove', id)).stdout, /Rule 'Half' was removed/);
  t.match([(await command(settings, 'rules', 'remove', id)).code], [1]);
  t.equal((await command(settings, 'rules', 'list')).stdout, 'There are no rules.\n');
});

t.test('rules of a load are refused with what would be right', async (t) => {
  const world = await makeAlertWorld(t);
  const row = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', project_id: 'Proj1', name: 'x' };
  for (const [wrong, message] of [
    [
      { rule: { ...RULE, op: 'lt' } },
      /1 invalid rule\. The first[\s\S]*against \\"previous\\" must be one of falls_by, rises_by/,
    ],
    [{ rule: { ...RULE, scope: 'group', id: 'Nope1' } }, /keyword, group or page group that does not exist/],
    [{ project_id: 'Nope1', rule: RULE }, /project/],
  ] as const)
    await t.rejects(world.load({ alert_rules: [{ ...row, ...wrong }] }), { message });
  const about = JSON.stringify({ ...RULE, scope: 'keyword', id: 'Nope1' });
  const tested = await command(settingsOf(world), 'rules', 'test', '--project', 'Proj1', '--rule', about);
  t.match(tested, { code: 1, stderr: /The project 'Proj1' has no keyword 'Nope1'/ });
  await world.load({ alert_rules: [{ ...row, rule: RULE }] });
  t.equal((await command(settingsOf(world), 'rules', 'list')).stdout.split('\n').length, 3);
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
