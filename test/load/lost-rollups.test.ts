// Whatever misses a rollup makes it again from the days: a server, a background job, a command.

import t, { type Test } from 'tap';
import { listProjectsToEvaluate } from '../../server/catalog/alerts.ts';
import type { ManifestRow } from '../../server/catalog/fact-files.ts';
import { FileLeases } from '../../server/catalog/leases.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { openJoinedStore } from '../../server/catalog/store.ts';
import { evaluateAlerts } from '../../server/jobs/evaluate-alerts.ts';
import { JobRunner } from '../../server/jobs/job-runner.ts';
import { JobStates } from '../../server/jobs/job-states.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { ROLLUPS, type StoredTable } from '../../server/model/tables.ts';
import { ALL_FACTS, makeAlertWorld, NOW } from '../alerts/world.ts';
import { command } from '../command.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { until } from '../process.ts';
import { type LazyWorld, makeWorld, temporaryFolder } from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read the files of a rollup. */
const ASKED = {
  keyword_all: `/keywords?${RANGE}&daily=1`,
  keyword_running: `/keywords?${RANGE}&device=desktop`,
  keyword_cumulative: `/keywords?${RANGE}`,
};

/** Removes the files of tables. */
async function remove(world: LazyWorld, ...tables: readonly StoredTable[]): Promise<void> {
  const files = await world.catalog.statements.all<ManifestRow>('fact-files.all');
  await using store = await openJoinedStore(world.settings, world.catalog);
  for (const { table, file } of files) if (tables.includes(table)) await store.remove(file);
}

t.test('a server makes lost rollups again that it misses, and answers 503 until then', async (t) => {
  const { body: right } = await (await makeWorld(t, EVERYTHING)).ask(ASKED.keyword_all);
  for (const table of ROLLUPS) {
    const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
    await remove(world, table);
    const { status, headers, body } = await world.ask(ASKED[table]);
    t.match({ status, headers }, { status: 503, headers: { 'retry-after': '60' } }, table);
    t.match(body.error, { code: 'unavailable', message: /being made again/ });
    const ended = /lost rollups (were made|could not)|the lost rollups again/;
    await until('the end of the work', () => world.log.find((line) => ended.test(line)));
    t.equal((await world.ask(ASKED[table])).status, 200);
    t.strictSame((await world.ask(ASKED.keyword_all)).body, right);
    const { problems } = await verify(world);
    t.strictSame(
      problems.filter(({ project }) => project === 'Proj1'),
      [],
      'all is in order',
    );
    t.match(world.log.join(''), /it is missing.*lost rollups were made again/s);
  }
});

t.test('days that were lost are a failure of the service: nothing can make them', async (t) => {
  const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
  await remove(world, 'keyword_daily');
  const { status } = await world.ask(`/keywords?${RANGE}&daily=1&device=desktop`);
  t.equal(status, 500);
});

/** Runs the job that evaluates alerts once, as the process of background jobs does. Returns its log. */
async function runJob(t: Test, { settings, dataFolder }: LazyWorld): Promise<string> {
  const log: string[] = [];
  const note = (line: unknown, message?: string): void => void log.push(message ?? String(line));
  const lines = { debug: note, info: note, warn: note, error: note };
  const clock = new FakeClock(NOW);
  const usage = openUsage(sqliteIn(temporaryFolder(t)), note);
  const stopping = new AbortController();
  const running = new JobRunner({
    ...{ jobs: [evaluateAlerts], settings, clock },
    openCatalog: () => openCatalog(settings, { create: false }),
    leases: new FileLeases(dataFolder),
    states: new JobStates(usage),
    log: { ...lines, child: () => lines },
    describeError: ({ message }) => message,
    random: () => 0.5,
  }).run(stopping.signal);
  await until('the end of the run', () => log.find((line) => /^job (done|failed)/.test(line)));
  stopping.abort();
  await running;
  await usage.close();
  return log.join('\n');
}

async function runCommand(_t: Test, { dataFolder }: LazyWorld): Promise<string> {
  const { code, stderr } = await command({ ORDINATE_DATA: dataFolder }, 'alerts', 'evaluate');
  return code === 0 ? stderr : `exit ${code}`;
}

t.test('a background job and a command that miss a rollup make it again and go on', async (t) => {
  for (const run of [runJob, runCommand]) {
    const world = await makeAlertWorld(t, ALL_FACTS);
    await remove(world, ...ROLLUPS);
    t.match(await run(t, world), /made again/, run.name);
    t.strictSame(await listProjectsToEvaluate(world.catalog), [], 'nothing is left to evaluate');
    const { problems } = await verify(world);
    t.strictSame(problems, []);
  }
});

t.test('a job that misses days fails as before', async (t) => {
  const world = await makeAlertWorld(t, ALL_FACTS);
  await remove(world, ...ROLLUPS, 'keyword_daily');
  t.match(await runJob(t, world), /job failed/);
});
