// Which alerts rows give, and all that they say. Both are in test/fixtures/alerts.txt.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { putInspections } from '../../server/catalog/inspections.ts';
import { addDays } from '../../server/domain/dates.ts';
import { INDEX_FIELDS, type IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { command } from '../command.ts';
import { restoreClock, setClock } from '../fakes/fake-clock.ts';
import { readRecorded, sameAsRecorded } from '../recorded.ts';
import { localOnly } from '../stores.ts';
import { makeWorld, PROJECT, type Row } from '../world.ts';
import { type Case, LAST, type Loads, placeOf, readCase } from './cases.ts';

const FILE = 'alerts.txt';
/** The time of all evaluations, ten days after the last one that is final. */
const NOW = Date.parse('2027-01-10T12:00:00Z');
const NOTHING = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null])) as IndexState;

/** What an inspection finds: `indexed`, `dropped`, `failed`, or the path of another canonical page. */
function stateOf(found: string, url: string): IndexState {
  const googleCanonical = found.startsWith('/') ? new URL(found, url).href : url;
  const indexed = { ...NOTHING, verdict: 'PASS', coverageState: 'Submitted and indexed', googleCanonical };
  if (found === 'dropped') return { ...indexed, verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };
  return found === 'failed' ? { ...indexed, verdict: 'NEUTRAL', coverageState: 'Server error (5xx)' } : indexed;
}

t.test('rows, and the alerts that they give', localOnly, async (t) => {
  const [about, ...blocks] = readRecorded(FILE).trimEnd().split('\n\n== ');
  const cases = blocks.map(readCase);
  /** The rows of a step, of all projects. */
  const loadsOf = (step: number): Loads => {
    const all = cases.flatMap(({ steps }) => Object.entries(steps[step]?.loads ?? {}));
    return Object.fromEntries(
      [...Map.groupBy(all, ([table]) => table)].map(([table, of]) => [table, of.flatMap((rows) => rows[1])]),
    );
  };
  const { sync_days = [], inspections = [], ...tables } = loadsOf(0);
  setClock(NOW);
  t.teardown(restoreClock);
  const world = await makeWorld(t, tables, { now: NOW });
  const putDays = (days: readonly Row[]): void => {
    using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
    const insert = db.prepare(`insert into sync_days (project_id, fact_table, day, state, final, cut_off, rows, clicks,
      impressions, digest, compared, fetched_at, attempts) values (?, ?, ?, ?, ?, ?, 1, 1, 1, '', 0, ?, 1)`);
    for (const { project_id, fact_table, day, state, final, cut_off, fetched_at } of days as Record<string, string>[])
      insert.run(project_id!, fact_table!, day!, state!, final!, cut_off!, fetched_at!);
  };
  const inspect = async (all: readonly Row[]): Promise<void> => {
    for (const { project_id, ago, state, url, ...more } of all as readonly Readonly<Record<string, string>>[]) {
      const page = { id: String(project_id), property: String(PROJECT['property']) };
      const inspection = { state: stateOf(state!, url!), lastCrawlTime: null };
      const result = { ...more, url, at: toMicroseconds(NOW - Number(ago) * 86_400_000), inspection };
      await putInspections(world.catalog, page, [result as never], { dueAt: 0, reason: null });
    }
  };
  const remove = (all: readonly Row[]): void => {
    using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
    const statement = db.prepare('delete from fact_files where project_id = ? and fact_table = ?');
    for (const { project_id, table } of all) statement.run(String(project_id), String(table));
  };
  const evaluate = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await command({ ORDINATE_DATA: world.dataFolder }, 'alerts', 'evaluate', ...words);
    return stdout || stderr;
  };
  /** All that the API says of alerts but their ids and when they were found out. */
  const alertsOf = async (one: Case): Promise<string[]> => {
    const { body } = await world.get(`/projects/${one.id}/alerts?status=all&limit=500`);
    return (body.alerts as Readonly<Record<string, string | null>>[]).flatMap((alert) => {
      const { type, kind, severity, title, body, date, keywordId, resolvedAt } = alert;
      const words = [type, severity, keywordId, resolvedAt === null ? 'open' : 'resolved'].filter(
        (word) => word !== null,
      );
      return [`day ${placeOf(one, date!)}, ${date}: ${words.join(' ')}`, `  ${kind}: ${title}`, `  ${body}`];
    });
  };

  putDays(sync_days);
  await inspect(inspections);
  // What opens in the first weeks is replayed with the rest, and found again.
  await evaluate('--as-of', addDays(LAST, -60));
  t.match(await evaluate(), /^P1000: \S+ to 2026-12-31; \d+ opened, \d+ changed, 0 removed\.$/m);
  const found = cases.map(({ promise }) => [promise]);
  for (let step = 0; step < 3; step++) {
    if (step > 0) {
      const { inspections: more = [], removed = [], ...rows } = loadsOf(step);
      await world.load(rows);
      await inspect(more);
      remove(removed);
      for (const { id } of cases.filter(({ steps }) => steps[step] !== undefined)) await evaluate('--project', id);
    }
    for (const [index, one] of cases.entries()) {
      const { lines } = one.steps[step] ?? {};
      if (lines !== undefined) found[index]!.push(...(step > 0 ? ['-'] : []), ...lines, ...(await alertsOf(one)));
    }
  }
  const texts = found.map((lines) => lines.join('\n'));
  sameAsRecorded(t, FILE, `${[about, ...texts].join('\n\n== ')}\n`, '\n\n== ');
  t.notMatch(await evaluate(), / [1-9]\d* (opened|changed|removed)/, 'a second evaluation changes nothing');
});
