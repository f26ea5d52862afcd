// A data folder of version 0.2 is upgraded without loss and gives the same answers.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import type { SchemaState } from '../../server/catalog/schema-state.ts';
import { command } from '../command.ts';
import { serveHere } from '../fakes/second-server.ts';
import { facts, ofProject, temporaryFolder, writeSnapshot } from '../world.ts';

/**
 * A data folder of version 0.2, which had taken it from 0.1 and loaded a third project into it; and what 0.1 had answered over
 * the others. It has rows in every table of the catalog.
 */
const RELEASE = join(import.meta.dirname, '../fixtures/release-0.2');
/** The key of the fixture. It opens nothing else. */
const KEY = `ord_live_${'0'.repeat(32)}`;

interface Recorded {
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

const RECORDED = readFileSync(join(RELEASE, 'answers.ndjson'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

/** A body with the fields that a recorded one has: later versions may answer more. */
function asRecorded(found: unknown, recorded: unknown): unknown {
  if (Array.isArray(found) && Array.isArray(recorded)) return found.map((one, at) => asRecorded(one, recorded[at]));
  if (typeof found !== 'object' || typeof recorded !== 'object' || found === null || recorded === null) return found;
  const kept = Object.entries(found).filter(([name]) => name in recorded);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, asRecorded(value, (recorded as typeof found)[name as never])]),
  );
}

/** Evaluated alerts come back with the next evaluation only: the journal does not have them. */
function withoutStale(answers: readonly Recorded[]): readonly Recorded[] {
  return answers.map((answer) => {
    const { alerts } = answer.body as { alerts?: readonly { type: string }[] };
    return alerts === undefined
      ? answer
      : {
          ...answer,
          body: { ...(answer.body as object), alerts: alerts.filter(({ type }) => type !== 'surface_stale') },
        };
  });
}

t.test('an upgraded catalog of 0.2 comes back when it is lost', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  cpSync(join(RELEASE, 'data'), dataFolder, { recursive: true });
  const settings = { ORDINATE_DATA: dataFolder };
  t.match(await command(settings, 'upgrade'), { code: 0, stdout: /was migrated from schema version 33/ });
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataFolder, `catalog.sqlite${suffix}`), { force: true });
  t.match(await command(settings, 'rebuild'), { code: 0 });
  t.match(await command(settings, 'keys', 'list', '--workspace', 'acme'), { code: 0, stdout: /dashboard/ });
});

t.test('a data folder of 0.2 is answered as before, loaded into, verified and rebuilt', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  cpSync(join(RELEASE, 'data'), dataFolder, { recursive: true });
  const settings = { ORDINATE_DATA: dataFolder };
  const answers = async (get: (path: string, key: string) => Promise<{ status: number; body: unknown }>) => {
    const all: Recorded[] = [];
    for (const { path, body: recorded } of RECORDED) {
      const { status, body } = await get(path, KEY);
      const { source } = body as { source?: { fetchedAt?: string } };
      // When the list was computed.
      if (source) delete source.fetchedAt;
      all.push({ path, status, body: asRecorded(body, recorded) });
    }
    return all;
  };

  const serve = () => serveHere(t, settings);
  const upgraded = await serve();
  t.strictSame(await answers(upgraded.get), RECORDED);
  await upgraded.stop();
  t.match(await command(settings, 'keys', 'list', '--workspace', 'acme'), { code: 0, stdout: /dashboard/ });
  t.match(await command(settings, 'connections', 'list'), { code: 0, stdout: /search-console/ });

  // Days that were stored already: what the first release wrote is read and written again.
  const again = writeSnapshot(t, {
    keyword_daily: facts('keyword_id date device', ['Kw001', '2026-02-10', 'mobile', 3, 50, 100]),
    // The first release had no surfaces but web.
    site_daily_image: facts('date device', ['2026-02-10', 'mobile', 4, 90, 100]),
    // Of a project of all countries: Bing tells none.
    site_daily_bing: ofProject('Proj2', facts('date device', ['2026-02-10', 'unknown', 5, 60, 0])),
    query_weekly_bing: ofProject('Proj2', facts('query week_end', ['shoes', '2026-02-12', 5, 60, 100])),
  });
  t.match(await command(settings, 'load', again), { code: 0 });
  t.match(await command(settings, 'verify'), { code: 0, stdout: /All is in order/ });
  t.match(await command(settings, 'verify', '--repair'), { stdout: /Proj2/ }, 'rollups that are new are made');
  t.match(await command(settings, 'verify'), { code: 0, stdout: /All is in order/ });
  const loaded = await serve();
  const after = await answers(loaded.get);
  const changed = await loaded.get('/projects/Proj1/keywords?from=2026-02-10&to=2026-02-10&limit=1', KEY);
  t.match(changed.body, { keywords: [{ id: 'Kw004', metrics: { clicks: 0 } }] }, 'the day was replaced as a whole');
  const surfacesOf = async (project: string): Promise<unknown> =>
    (await loaded.get(`/projects/${project}/surfaces?from=2026-02-10&to=2026-02-10`, KEY)).body;
  const web = { engine: 'google', type: 'web' };
  t.match(await surfacesOf('Proj1'), { surfaces: [web, { type: 'image', clicks: 4 }] });
  t.match(await surfacesOf('Proj2'), { surfaces: [{ engine: 'bing', clicks: 5 }] });
  const weeks = await loaded.get('/projects/Proj2/queries?engine=bing&from=2026-02-06&to=2026-02-12', KEY);
  t.match(weeks.body, { queries: [{ query: 'shoes', clicks: 5 }] });
  await loaded.stop();

  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataFolder, `catalog.sqlite${suffix}`), { force: true });
  t.match(await command(settings, 'rebuild'), { code: 0, stdout: /3 projects/ });
  const made = await command(settings, 'keys', 'create', '--workspace', 'acme', '--name', 'again', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  const rebuilt = await serve();
  t.strictSame(withoutStale(await answers((path) => rebuilt.get(path, key))), withoutStale(after));
});

t.test('upgrade --check says what a version would migrate, and changes nothing', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  cpSync(join(RELEASE, 'data'), dataFolder, { recursive: true });
  const settings = { ORDINATE_DATA: dataFolder };
  const path = join(dataFolder, 'catalog.sqlite');
  const before = readFileSync(path);
  const check = await command(settings, 'upgrade', '--check', '--json');
  const { found, supported, pending, migrated } = JSON.parse(check.stdout) as SchemaState & {
    migrated: boolean;
  };
  t.match({ code: check.code, migrated }, { code: 0, migrated: false });
  t.equal(found, 33);
  t.equal(pending.at(-1)!.version, supported);
  t.match(pending[0], { version: 100, name: '0100-release-1.0', description: /^The schema of release 1\.0: .*\.$/ });
  t.match(await command(settings, 'upgrade', '--check'), {
    code: 0,
    stdout: /would migrate it.*0100-release-1\.0: The.*earlier versions cannot read the catalog afterwards/s,
  });
  t.ok(before.equals(readFileSync(path)), 'the catalog is untouched');
  t.match(await command(settings, 'upgrade'), { code: 0, stdout: /was migrated from schema version/ });
  t.match(await command(settings, 'upgrade', '--check'), { code: 0, stdout: /is up to date/ });

  const db = new DatabaseSync(path);
  db.exec(`pragma user_version = ${supported + 1}`);
  db.close();
  for (const words of [['upgrade', '--check'], ['upgrade'], ['keys', 'list', '--workspace', 'acme']]) {
    t.match(
      await command(settings, ...words),
      { code: 1, stderr: /newer version.*Install that version again/ },
      words[0]!,
    );
  }
  const none = { ORDINATE_DATA: temporaryFolder(t) };
  t.match(await command(none, 'upgrade', '--check'), { code: 1, stderr: /There is no data of Ordinate/ });
});
