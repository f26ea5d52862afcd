// A live demo fills itself with data, and continues after a restart where it stopped.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { command } from '../command.ts';
import { atNight } from '../night.ts';
import { type Server, start, until, untilReady } from '../process.ts';
import { temporaryFolder } from '../world.ts';

t.test('a live demo fills itself, and goes on where it was', atNight, async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_JOBS: 'on', ORDINATE_THREADS: '1', PORT: '0' };
  const project = (): Record<string, unknown> => {
    using database = new DatabaseSync(join(dataFolder, 'catalog.sqlite'), { readOnly: true, timeout: 5000 });
    const columns = 'p.*, endpoint, (select count(*) from sync_days) as days';
    return database.prepare(`select ${columns} from projects p join connections on project_id = id`).get() ?? {};
  };
  const run = async (): Promise<Server> => untilReady(start(t, settings, 'demo', '--live'));

  const first = await run();
  const key = await until('its key', () => /ord_live_\S+/.exec(first.printed.stdout)?.[0]);
  const newest = await until('the first numbers', () => (project()['synced_through'] === null ? undefined : project()));
  t.match(newest, { tracked_keywords: 150, sync_status: 'ok', history_backfilling: 1 });
  const { body } = await first.get(`/projects/${String(newest['id'])}/site`, key);
  t.ok(body.totals.clicks > 100, 'the numbers of a shop');
  first.child.kill('SIGKILL');
  await first.ended;

  const { days } = project();
  const again = await run();
  t.notMatch(again.printed.stdout, /ord_live_/, 'the key is shown once');
  await until('more days', () => (Number(project()['days']) > Number(days) ? true : undefined));
  t.match(project(), { endpoint: newest['endpoint'], history_backfilling: 1 });
  again.child.kill('SIGTERM');
  t.equal((await again.ended).code, 0);
});

t.test('a live demo needs a folder of its own, and background jobs', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  const made = ['workspaces', 'create', '--id', 'acme', '--name', 'Acme', '--plan', 'team'];
  await command({ ORDINATE_DATA: dataFolder }, ...made);
  const other = await command({ ORDINATE_DATA: dataFolder, ORDINATE_JOBS: 'on' }, 'demo', '--live');
  t.match(other, { code: 1, stderr: /has data of its own/ });
  const still = await command({ ORDINATE_DATA: join(temporaryFolder(t), 'data') }, 'demo', '--live');
  t.match(still, { code: 1, stderr: /ORDINATE_JOBS/ });
});
