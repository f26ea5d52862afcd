// The commands in the README work as printed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sqliteIn } from '../server/catalog/location.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { command } from './command.ts';
import { guideBlock } from './docs/blocks.ts';
import { atNight } from './night.ts';
import { type Server, startServer, until } from './process.ts';
import { block, ROOT, readme } from './readme.ts';
import { runScript as shell } from './shell.ts';
import { temporaryFolder } from './world.ts';

/** The scripts of `npm run`. */
const scripts = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;

t.test('npm test; a property is connected as in the guide, whose test runs it', (t) => {
  t.equal(block('test'), 'npm test\n');
  t.ok(scripts['test']);
  t.equal(block('property').replaceAll('npm run -s ordinate --', 'ordinate'), guideBlock('load', 'property'));
  t.strictSame(
    [...readme.matchAll(/^```sh (\w+)$/gm)].map(([, name]) => name),
    ['start', 'test', 'ask', 'property'],
    'all blocks are tried',
  );
  t.end();
});

/** The rows of four weeks, without the time of their fetch. */
async function newestDays(server: Server, id: string, key: string): Promise<unknown[]> {
  const paths = ['keywords', 'site', 'pages', 'queries'];
  return Promise.all(
    paths.map(async (path) => {
      const body = (await server.get(`/projects/${id}/${path}`, key)).body as Record<string, unknown>;
      return Object.entries(body).filter(([name]) => !['project', 'range', 'source'].includes(name));
    }),
  );
}

t.test('npm start, the demo and the first answers', atNight, async (t) => {
  t.equal(block('start'), 'npm ci && npm start\n');
  t.equal(
    scripts['start'],
    'MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE=$PWD/node_modules/.cache/compiled exec node --max-semi-space-size=8 cli/ordinate.ts serve --demo',
  );
  const folder = temporaryFolder(t);
  const dataFolder = join(folder, 'not', 'there', 'yet');
  const settings = { ORDINATE_DATA: dataFolder };
  const server = await startServer(t, settings, '--demo');
  const stdout = await until('the first question', () =>
    server.printed.stdout.includes('curl') ? server.printed.stdout : undefined,
  );
  const shown = [...new Set(stdout.match(/ord_live_[A-Za-z0-9]+/g))];
  t.equal(shown.length, 1, 'one key');
  const [key = ''] = shown;
  t.match(key, /^ord_live_[A-Za-z0-9]{32}$/);
  const curl = /^\s*(curl .*)$/m.exec(stdout)?.[1] ?? 'false';
  t.match(curl, key);
  const listed = await server.get('/projects', key);
  t.equal(listed.body.projects.length, 2);
  t.strictSame(JSON.parse(await shell(curl, folder, {})), listed.body, 'the printed command works');

  const asked = block('ask')
    .replace(/^export KEY=.*$/m, '')
    .replaceAll('http://127.0.0.1:3000', server.address)
    .replaceAll('curl -s', 'curl -sf -w "\\n"');
  const answers = (await shell(asked, folder, { KEY: key })).trim().split('\n');
  t.equal(answers.length, 5);
  for (const answer of answers) t.notOk((JSON.parse(answer) as { error?: unknown }).error);

  const [{ id }] = listed.body.projects as [{ id: string }];
  const newest = await newestDays(server, id, key);
  await until('the older days of the demo', () =>
    server.printed.stderr.includes('Demo workspace: complete') ? true : undefined,
  );
  t.strictSame(await newestDays(server, id, key), newest, 'older days change nothing of the newest');
  const filled = await server.get('/projects', key);
  for (const { historyBackfilling } of filled.body.projects) t.notOk(historyBackfilling);
  const { body: all } = await server.get(`/projects/${id}/site?period=16m`, key);
  t.ok(all.daily.length > 480, 'sixteen months');
  const endpoints = {
    keywords: 'keywords',
    groups: 'groups',
    'page-groups': 'pageGroups',
    site: 'daily',
    breakdowns: 'countries',
    pages: 'pages',
    queries: 'queries',
    alerts: 'alerts',
    notes: 'notes',
  };
  for (const [path, rows] of Object.entries(endpoints)) {
    const { status, body } = await server.get(`/projects/${id}/${path}`, key);
    t.equal(status, 200, path);
    t.ok(body[rows].length > 0, `the demo has ${rows}`);
  }
  const keys = await command(settings, 'keys', 'list', '--workspace', 'demo', '--json');
  const [{ id: keyId }] = JSON.parse(keys.stdout) as [{ id: string }];
  const made = await shell(guideBlock('spreadsheets', 'feed').replace('KEY_ID', keyId), folder, settings);
  t.match(made, /https:\/\/ordinate\.example\.com\/feeds\/ord_feed_\w{32}\.csv/);
  const printed = server.printed.stdout + (await shell(guideBlock('dashboard', 'login'), folder, settings));
  t.match(
    await shell(guideBlock('dashboard', 'share'), folder, settings),
    /ord_share_[A-Za-z0-9]{32}\n[\s\S]*overview/,
  );
  const links = [...new Set(printed.match(/ord_link_[A-Za-z0-9]+/g))];
  t.equal(links.length, 2, 'a link of the demo, and one of an owner');
  for (const link of links) {
    const headers = { authorization: `Bearer ${link}`, 'sec-fetch-site': 'same-origin' };
    t.equal((await fetch(`${server.address}/app/session`, { method: 'POST', headers })).status, 200);
  }
  t.equal((await fetch(`${server.address}/app`)).status, 200, 'the dashboard has been built');
  server.child.kill('SIGTERM');
  const ended = await server.ended;
  t.equal(ended.code, 0, 'a signal stops it gracefully');
  t.notOk(ended.stderr.includes(key), 'the key is not in the log');
  t.match(ended.stderr, /^Created the data folder .+\nDemo workspace: /, 'what goes on is shown without a terminal');

  const again = await startServer(t, settings, '--demo');
  t.notMatch(again.printed.stdout, /ord_live_|curl/, 'the second time neither a key nor a question');
  t.strictSame((await again.get('/projects', key)).body, filled.body, 'the key of the first time still works');
  const catalog = await openCatalog(sqliteIn(dataFolder));
  t.equal((await catalog.statements.all('keys.of_workspace', { workspace: 'demo' })).length, 1);
  await catalog.close();
  t.match(await command(settings, 'demo'), { code: 1, stdout: '', stderr: /not empty.*'demo'/ });
});
