import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { zipSync } from 'fflate';
import t from 'tap';
import { program } from '../scripts/ordinate.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { sqliteIn } from '../server/catalog/place.ts';
import { ERRORS, UNREADABLE_REQUESTS } from '../server/domain/errors.ts';
import { Engine } from '../server/facts/duckdb/engine.ts';
import { SETTINGS } from '../server/settings/table.ts';
import { command } from './command.ts';
import { DEPLOYMENT_TOOLS } from './deployment-tools.ts';
import { credentialsFile } from './fakes/connected.ts';
import { fakeSearchConsole } from './fakes/search-console.ts';
import { startServer, until } from './process.ts';
import { block, ROOT, readme } from './readme.ts';
import { runScript as shell } from './shell.ts';
import { temporaryFolder } from './world.ts';

function table(name: string, header: string, rows: readonly string[]): string {
  return `<!-- ${name}: written by test/readme.test.ts -->\n${header}\n${rows.join('\n')}\n<!-- /${name} -->`;
}

const TABLES = {
  settings: table(
    'settings',
    '| setting | default | |\n| --- | --- | --- |',
    Object.values(SETTINGS).map(({ name, shown, help }) => `| \`${name}\` | ${shown} | ${help} |`),
  ),
  errors: table(
    'errors',
    '| status | code | when |\n| --- | --- | --- |',
    [...Object.entries(ERRORS), ...Object.values(UNREADABLE_REQUESTS).map((row) => ['invalid_request', row] as const)]
      .sort(([, a], [, b]) => a.status - b.status)
      .map(([code, { status, when }]) => `| ${status} | \`${code}\` | ${when} |`),
  ),
};

t.test('the tables of the README equal those of the code (UPDATE_README=1 writes them)', (t) => {
  let text = readme;
  for (const [name, wanted] of Object.entries(TABLES)) {
    text = text.replace(new RegExp(`<!-- ${name}:[\\s\\S]*?<!-- /${name} -->`), () => wanted);
    t.ok(text.includes(wanted), `README.md has a place for the ${name}`);
  }
  if (process.env['UPDATE_README'] === '1') writeFileSync(join(ROOT, 'README.md'), text);
  else t.equal(readme, text);
  t.end();
});

/** The scripts of `npm run`. */
const scripts = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;

t.test('npm test, npm run bench', (t) => {
  t.equal(block('test'), 'npm test\n');
  t.ok(scripts['test']);
  // test/scripts/bench.test.ts runs it.
  t.equal(block('bench'), 'npm run bench -- --quick\n');
  t.ok(scripts['bench']);
  t.end();
});

t.test('npm start, the demo and the first answers', async (t) => {
  t.equal(block('start'), 'npm ci && npm start\n');
  t.equal(scripts['start'], 'MALLOC_ARENA_MAX=2 exec node scripts/ordinate.ts serve --demo');
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
  const made = await shell(block('feeds').replace('KEY_ID', keyId), folder, settings);
  t.match(made, /https:\/\/ordinate\.example\.com\/feeds\/ord_feed_\w{32}\.csv/);
  const printed = server.printed.stdout + (await shell(block('login'), folder, settings));
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
  t.match(ended.stderr, /^Demo workspace: /, 'what goes on is shown without a terminal');

  const again = await startServer(t, settings, '--demo');
  t.notMatch(again.printed.stdout, /ord_live_|curl/, 'the second time neither a key nor a question');
  t.strictSame((await again.get('/projects', key)).body, listed.body, 'the key of the first time still works');
  const catalog = await openCatalog(sqliteIn(dataFolder));
  t.equal((await catalog.statements.all('keys_of_workspace', { workspace: 'demo' })).length, 1);
  await catalog.close();
  t.match(await command(settings, 'demo'), { code: 1, stdout: '', stderr: /not empty.*'demo'/ });
});

t.test('the import of a bulk export', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'export'));
  const engine = await Engine.open({
    memoryLimit: '200MB',
    threads: 1,
    temporaryFolder: join(folder, 'temporary'),
    folders: [join(folder, 'export')],
  });
  using session = await engine.session();
  await session.run(
    `copy (select date '2026-03-01' as data_date, 'https://www.acme.example/' as site_url, 'acme' as query,
      false as is_anonymized_query, 'usa' as country, 'WEB' as search_type, 'MOBILE' as device,
      'https://www.acme.example/a' as url, true as is_video, 10 as impressions, 2 as clicks, 15 as sum_position)
      to $target (format parquet)`,
    { target: join(folder, 'export', 'day.parquet') },
  );
  const out = await shell(block('import'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /was created; 1 keyword/);
  t.match(out, /ord_live_\w{32}/);
  t.match(out, /site_daily +2026-03-01 +2026-03-01 +1$/m);
  engine.close();
});

t.test('the import of an export of the user interface', async (t) => {
  const folder = temporaryFolder(t);
  const header = 'Clicks,Impressions,CTR,Position';
  const files = {
    'Chart.csv': `Date,${header}\n2026-03-01,1,10,10%,2\n`,
    'Queries.csv': `Top queries,${header}\nacme,1,10,10%,2\n`,
  };
  const entries = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]);
  writeFileSync(join(folder, 'export.zip'), zipSync(Object.fromEntries(entries) as Record<string, Uint8Array>));
  const out = await shell(block('search-console'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /would be created.*was created/s);
  t.match(out, /^query_period: 1 rows, 2026-03-01 to 2026-03-01$/m);
});

t.test('the load of a snapshot', async (t) => {
  const folder = temporaryFolder(t);
  const out = await shell(block('snapshot'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /nothing was loaded \(dry run\)/);
  t.match(out, /Loaded\. Projects: Shop1\./);
});

t.test('containers and the systemd service; what runs Ordinate runs it here', async (t) => {
  const folder = temporaryFolder(t);
  const script = [block('snapshot'), DEPLOYMENT_TOOLS, block('container'), block('service')].join('\n');
  const out = await shell(script, folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /docker compose up --build --detach\n[\s\S]*shop +The shop[\s\S]*ExecStart=[\s\S]*systemctl enable/);
});

t.test('backups', async (t) => {
  const folder = temporaryFolder(t);
  const commands = block('backup').replaceAll('/mnt/backup', join(folder, 'backup'));
  const out = await shell(`${block('snapshot')}\n${commands}`, folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /Backed up [\s\S]*All is in order[\s\S]*Restored 1 projects/);
});

t.test('a property is connected', async (t) => {
  const folder = temporaryFolder(t);
  const google = await fakeSearchConsole(t);
  google.sites = [{ siteUrl: 'sc-domain:acme.example', permissionLevel: 'siteRestrictedUser' }];
  google.queries = [{ key: 'acme boots', clicks: 1, impressions: 2, position: 1 }];
  const connected = block('property').replaceAll(
    '--credentials /etc/ordinate/google.json',
    `--credentials ${credentialsFile(t)} --endpoint ${google.url} --token-endpoint ${google.tokenUrl}`,
  );
  // 16 months take a while; what a sync does has tests of its own.
  const commands = connected.replace(' --sync', '');
  t.not(commands, connected);
  const out = await shell(commands, folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /sc-domain:acme\.example +siteRestrictedUser\nProject \w{5} was created for .*; it tracks 1 query/);
});

t.test('lists live from the search provider', async (t) => {
  const folder = temporaryFolder(t);
  const google = await fakeSearchConsole(t);
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  google.queries = google.pages;
  const commands = block('connect').replace(
    '--credentials /etc/ordinate/google.json',
    `--credentials ${credentialsFile(t)} --endpoint ${google.url} --token-endpoint ${google.tokenUrl}`,
  );
  t.not(commands, block('connect'));
  const out = await shell(`${block('snapshot')}\n${commands}`, folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /Shop1/);
  const status = await shell('npm run -s ordinate -- lists status --json', folder, {
    ORDINATE_DATA: join(folder, 'data'),
  });
  t.equal((JSON.parse(status) as { lists: number }).lists, 2, 'pages and queries are stored');
});

t.test('the README has every command of the program', (t) => {
  const namesOf = ({ commands }: Command, before = ''): string[] =>
    commands.flatMap((command) => {
      const name = `${before}${command.name()}`;
      return command.commands.length > 0 ? namesOf(command, `${name} `) : [name];
    });
  const names = namesOf(program);
  t.ok(names.length >= 8);
  for (const name of names) t.match(readme, new RegExp(`\`${name}[ \`]`), name);
  t.end();
});
