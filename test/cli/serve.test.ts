// The server announces when it is ready, and completes running requests when it is stopped.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { freePort } from '../free-port.ts';
import { atNight } from '../night.ts';
import { writeParquet } from '../parquet.ts';
import { makeDataFolder, run, start, startServer, until } from '../process.ts';
import { facts, keyword, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';

const SMALL = {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-01', 'desktop', 3, 100, 900]),
};

t.test('the server says when it is ready, and answers; a second one on its port is told so', async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [writeSnapshot(t, SMALL)]);
  // A port that was free a moment ago.
  const port = String(await freePort());
  // Only Linux has the address 127.0.0.2 by itself.
  const [host, set] = process.platform === 'linux' ? ['127.0.0.2', '127.0.0.1'] : ['127.0.0.1', '127.0.0.3'];
  const settings = { ORDINATE_DATA: dataFolder, PORT: '1', HOST: set };
  const options = ['--port', port, '--host', host];
  const server = await startServer(t, settings, ...options);
  t.equal(new URL(server.address).host, `${host}:${port}`, 'options go before the settings');
  await t.rejects(fetch(`http://${set}:${port}/livez`), 'nowhere but there');
  t.match(await server.get('/projects/Proj1/site', keys[0]!), {
    status: 200,
    headers: { 'cache-control': 'no-store', 'x-ratelimit-limit': '120' },
    body: { totals: { clicks: 3 } },
  });
  t.equal((await server.get('/projects', 'ord_live_no')).status, 401);
  const checks = await Promise.all(['/livez', '/readyz', '/docs'].map((path) => fetch(server.address + path)));
  t.strictSame(
    checks.map(({ status }) => status),
    [200, 200, 200],
  );

  const second = await run(t, settings, 'serve', ...options);
  t.not(second.code, 0);
  t.equal(second.stdout, '');
  t.match(second.stderr, new RegExp(`in use.*${port}|${port}.*in use`));
  t.notMatch(second.stderr, /^\s+at |node:internal/m, 'no stack trace');
  t.equal((await server.get('/projects', keys[0]!)).status, 200, 'the first one goes on');

  server.child.kill('SIGINT');
  t.match(await server.ended, { code: 0 });
  t.strictSame(readdirSync(join(dataFolder, 'temporary')), [], 'nothing temporary is left');
  t.notMatch(server.printed.stderr, /background jobs/, 'there are none where ORDINATE_JOBS is off');
});

t.test('a signal to stop: an answer under way is given whole, then the process ends', async (t) => {
  const KEYWORDS = 2500;
  const DAYS = 100;
  const ids = Array.from({ length: KEYWORDS }, (_, number) => `K${String(number).padStart(4, '0')}`);
  const folder = writeSnapshot(t, {
    workspaces: [WORKSPACE],
    projects: [PROJECT],
    keywords: ids.map((id) => keyword(id, id)),
  });
  await writeParquet(
    join(folder, 'keyword_daily.parquet'),
    `select 'Proj1' as project_id, 'K' || lpad(number::varchar, 4, '0') as keyword_id, date::date as date,
      'mobile' as device, 1 as clicks, 2 as impressions, 0 as sum_position
    from generate_series(date '2025-12-01', date '2026-03-10', interval 1 day) days (date), range(${KEYWORDS}) numbers (number)`,
  );
  const { dataFolder, keys } = await makeDataFolder(t, [folder]);
  const port = String(await freePort());
  const server = await startServer(t, { ORDINATE_DATA: dataFolder, PORT: port, HOST: 'localhost' });
  t.equal(new URL(server.address).port, port, 'address and port are settings');
  const headers = { authorization: `Bearer ${keys[0]!}`, 'accept-encoding': 'identity' };
  // Longer than what a system buffers for a client that takes its time.
  const asked = request(`${server.address}/api/v1/projects/Proj1/keywords?period=${DAYS}d&daily=1&limit=${KEYWORDS}`, {
    headers,
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  server.child.kill('SIGTERM');
  await until('the end to begin', () => (server.printed.stderr.includes('"stopping"') ? true : undefined));
  const { keywords } = JSON.parse(await text(answer)) as { keywords: { daily: object[] }[] };
  t.equal(keywords.length, KEYWORDS);
  t.ok(keywords.every(({ daily }) => daily.length === DAYS));
  const { code, stderr } = await server.ended;
  t.equal(code, 0);
  t.match(stderr.split('"stopping"')[1], /keywords/, 'it was answered after the signal');
  await t.rejects(fetch(`${server.address}/livez`), 'nobody listens any more');
});

t.test('a signal to stop while the server prepares for its first question', atNight, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, SMALL)]);
  const port = await freePort();
  const starting = start(t, { ORDINATE_DATA: dataFolder, PORT: String(port) }, 'serve');
  const ask = (): Promise<true | undefined> =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => true,
      () => undefined,
    );
  await until('the server to listen', ask);
  starting.child.kill('SIGTERM');
  t.match(await starting.ended, { code: 0 });
  t.strictSame(readdirSync(join(dataFolder, 'temporary')), [], 'nothing temporary is left');
});

t.test('a signal to stop: several processes whose log nobody reads any more', atNight, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, SMALL)]);
  const server = await startServer(t, { ORDINATE_DATA: dataFolder }, '--workers', '2');
  // As if what started it ended at the same moment, with lines not yet written.
  for (let n = 0; n < 20; n += 1) await fetch(`${server.address}/livez`);
  server.child.stderr!.destroy();
  server.child.kill('SIGTERM');
  t.equal((await server.ended).code, 0, 'nobody reads its log');
});
