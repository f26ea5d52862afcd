// Servers that share a PostgreSQL catalog see each other's commits at once, and respect the connection limit.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run, startServer } from '../process.ts';
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, query, skip } from './databases.ts';

const snapshot = writeSnapshot(t, {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]),
});

/** A data folder whose catalog is in a database, with a loaded project. Returns its settings and a way to run commands. */
async function loaded(t: Test, catalogUrl?: string) {
  const settings = {
    ORDINATE_DATA: join(temporaryFolder(t), 'data'),
    ORDINATE_CATALOG: catalogUrl ?? (await newDatabase(t)),
  };
  const command = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(t, settings, ...words);
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  await command('load', snapshot, '--accept-implausible');
  return { settings, command };
}

async function newKey(command: (...words: string[]) => Promise<string>): Promise<{ id: string; key: string }> {
  return JSON.parse(await command('keys', 'create', '--workspace', 'acme', '--name', 'test', '--json')) as {
    id: string;
    key: string;
  };
}

t.test(
  'two servers over one database: what one commits holds for the next request of the other',
  { skip },
  async (t) => {
    const { settings, command } = await loaded(t);
    const { id, key } = await newKey(command);
    const servers = [await startServer(t, settings), await startServer(t, settings, '--workers', '2')];
    const site = '/projects/Proj1/site?from=2026-03-01&to=2026-03-01';
    for (const { get } of [...servers, ...servers]) {
      const { status, body } = await get(site, key);
      t.equal(status, 200);
      t.match(body, { totals: { clicks: 3, impressions: 100 } });
    }
    const more = writeSnapshot(t, { site_daily: facts('date device', ['2026-03-01', 'mobile', 5, 100, 900]) });
    await command('load', more, '--accept-implausible');
    for (const { get } of servers) t.match((await get(site, key)).body, { totals: { clicks: 5 } });
    await command('keys', 'revoke', id, '--workspace', 'acme');
    for (const { get } of servers) for (let n = 0; n < 4; n++) t.equal((await get(site, key)).status, 401);
    const again = await newKey(command);
    for (const { get } of servers) t.equal((await get(site, again.key)).status, 200, 'a new key is valid at once');
    await servers[0]!.get(site, again.key);
    const uses = await query<{ requests: string }>(
      settings.ORDINATE_CATALOG,
      'select sum(requests) as requests from key_days',
    );
    t.ok(Number(uses[0]!.requests) > 0, 'their use is counted');
  },
);

t.test('a dry run makes no tables in an empty database', { skip }, async (t) => {
  const url = await newDatabase(t);
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG: url };
  const tables = () =>
    query<{ tables: number }>(url, "select count(*)::int as tables from pg_tables where schemaname = 'public'");
  t.match(await run(t, settings, 'load', snapshot, '--dry-run'), { code: 0, stdout: /nothing was loaded \(dry run\)/ });
  t.strictSame(await tables(), [{ tables: 0 }]);
  t.notOk(existsSync(settings.ORDINATE_DATA));
  t.match(await run(t, settings, 'load', snapshot), { code: 0 });
  const bad = writeSnapshot(t, {
    site_daily: facts('project_id date device', ['Other', '2026-03-01', 'mobile', 3, 100, 900]),
  });
  t.match(await run(t, settings, 'load', bad, '--dry-run'), { code: 1, stderr: /Other/ }, 'it knows what is there');
});

t.test('a process takes as many connections as it may', { skip }, async (t) => {
  const { settings, command } = await loaded(t);
  const { key } = await newKey(command);
  const server = await startServer(t, { ...settings, ORDINATE_CATALOG_CONNECTIONS: '2', ORDINATE_CACHE: '0MB' });
  const ask = () => server.get('/projects/Proj1/site?from=2026-03-01&to=2026-03-01', key);
  for (const { status } of await Promise.all(Array.from({ length: 40 }, ask))) t.equal(status, 200);
  const text =
    'select count(*)::int as open from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const [found] = await query<{ open: number }>(settings.ORDINATE_CATALOG, text);
  // One more reads the version.
  t.equal(found!.open, 3);
});
