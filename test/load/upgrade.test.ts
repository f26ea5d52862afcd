import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { startServer } from '../process.ts';
import { facts, temporaryFolder, writeSnapshot } from '../world.ts';

/** A data folder that release 0.1 made, and what that release answered over it. */
const RELEASE = join(import.meta.dirname, '../fixtures/release-0.1');
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

t.test('a data folder of the first release is answered as before, loaded into, verified and rebuilt', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  cpSync(join(RELEASE, 'data'), dataFolder, { recursive: true });
  const settings = { ORDINATE_DATA: dataFolder };
  const answers = async (get: (path: string, key: string) => Promise<{ status: number; body: unknown }>) => {
    const all: Recorded[] = [];
    for (const { path } of RECORDED) {
      const { status, body } = await get(path, KEY);
      const { source } = body as { source?: { fetchedAt?: string } };
      // When the list was computed.
      if (source) delete source.fetchedAt;
      all.push({ path, status, body });
    }
    return all;
  };

  const upgraded = await startServer(t, settings);
  t.strictSame(await answers(upgraded.get), RECORDED);
  upgraded.child.kill('SIGTERM');
  await upgraded.ended;
  t.match(await command(settings, 'keys', 'list', '--workspace', 'acme'), { code: 0, stdout: /dashboard/ });
  t.match(await command(settings, 'connections', 'list'), { code: 0, stdout: /search-console/ });

  // Days that were stored already: what the first release wrote is read and written again.
  const again = writeSnapshot(t, {
    keyword_daily: facts('keyword_id date device', ['Kw001', '2026-02-10', 'mobile', 3, 50, 100]),
  });
  t.match(await command(settings, 'load', again), { code: 0 });
  t.match(await command(settings, 'verify'), { code: 0, stdout: /All is in order/ });
  t.match(await command(settings, 'verify', '--repair'), { stdout: /Proj2/ }, 'rollups that are new are made');
  t.match(await command(settings, 'verify'), { code: 0, stdout: /All is in order/ });
  const loaded = await startServer(t, settings);
  const after = await answers(loaded.get);
  const changed = await loaded.get('/projects/Proj1/keywords?from=2026-02-10&to=2026-02-10&limit=1', KEY);
  t.match(changed.body, { keywords: [{ id: 'Kw004', metrics: { clicks: 0 } }] }, 'the day was replaced as a whole');
  loaded.child.kill('SIGTERM');
  await loaded.ended;

  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataFolder, `catalog.sqlite${suffix}`), { force: true });
  t.match(await command(settings, 'rebuild'), { code: 0, stdout: /2 projects/ });
  const made = await command(settings, 'keys', 'create', '--workspace', 'acme', '--name', 'again', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  const rebuilt = await startServer(t, settings);
  t.strictSame(await answers((path) => rebuilt.get(path, key)), after);
});
