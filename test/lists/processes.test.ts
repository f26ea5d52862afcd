// Processes share the fetch of a list, and a killed process blocks no other.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connectedWorld } from '../fakes/connected.ts';
import { startServer } from '../process.ts';
import { isLocal } from '../stores.ts';

t.test('two server processes make one fetch; a kill in mid-fetch blocks nobody and leaves no list', async (t) => {
  const { dataFolder, key, google } = await connectedWorld(t);
  google.pages = [{ key: '/', clicks: 1, impressions: 2, position: 1 }];
  google.delay = 500;
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LISTS_WAIT_SECONDS: '30' };
  const servers = await Promise.all([startServer(t, settings), startServer(t, settings)]);
  const path = (to: string): string => `/projects/Proj1/pages?from=2026-02-01&to=${to}&limit=1`;
  const ask = async ({ get }: (typeof servers)[number]) => get(path('2026-02-28'), key);
  const answers = await Promise.all(servers.flatMap((server) => Array.from({ length: 25 }, () => ask(server))));
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200]);
  t.equal(new Set(answers.map(({ body }): unknown => body.source.fetchedAt)).size, 1);
  t.equal(google.requests.length, 1);

  if (!isLocal) return;
  google.delay = 0;
  google.failure = { how: 'hang', times: 1 };
  const [killed, other] = servers;
  const lost = killed.get(path('2026-02-27'), key).catch(() => undefined);
  while (google.requests.length === 1) await sleep(10);
  const waiting = other.get(path('2026-02-27'), key);
  await sleep(50);
  killed.child.kill('SIGKILL');
  t.equal((await waiting).status, 200);
  await lost;
  t.equal(google.requests.length, 3);
  const lists = readdirSync(join(dataFolder, 'lists')).filter((name) => name.endsWith('.parquet'));
  t.equal(lists.length, 2, 'one for each question');
});
