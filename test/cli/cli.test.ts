// Every command explains itself, reports errors in sentences, and can set up a workspace from nothing.
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import t, { type Test } from 'tap';
import { programFor } from '../../cli/program.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { SETTINGS } from '../../server/settings/table.ts';
import { command } from '../command.ts';
import { serveHere } from '../fakes/second-server.ts';
import { writeParquetRows } from '../parquet.ts';
import { type Ended, environmentOf, makeDataFolder, run, until } from '../process.ts';
import { facts, keyword, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

/** Runs work over a list, a few at a time: every process takes a part of a second of a processor. */
async function eachOf<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = [...list];
  const worker = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one);
  };
  await Promise.all([worker(), worker(), worker()]);
}

/** The words of a command in a data folder, to run. */
function commandLine(t: Test, dataFolder: string) {
  return {
    ordinate: (...words: string[]): Promise<Ended> => command({ ORDINATE_DATA: dataFolder }, ...words),
    /** What a command prints that was asked for `--json`. */
    json: async (...words: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await command({ ORDINATE_DATA: dataFolder }, ...words, '--json');
      t.equal(stderr, '', words.join(' '));
      t.equal(code, 0);
      return JSON.parse(stdout) as unknown;
    },
  };
}

/** What stands in the help of a command, by command: its required options first, then others. */
const COMMANDS: Readonly<Record<string, { required?: readonly string[]; also?: readonly string[] }>> = {
  '': {
    also: ['serve', 'load', 'import', 'demo', 'workspaces', 'members', 'keys', 'projects', 'connections', 'lists'],
  },
  serve: { also: ['--port', '--host', '--demo'] },
  load: { also: ['<folder>', '--dry-run', '--replace', '--confirm-delete', '--accept-implausible', '--json'] },
  describe: { also: ['[table]', '--json'] },
  'import bulk-export': {
    required: ['--workspace', '--property'],
    also: ['<path...>', '--brand-term', '--track-top', '--force', '--dry-run', '--json'],
  },
  demo: {},
  'workspaces create': { required: ['--id', '--name', '--plan'], also: ['--keyword-history-days', '--json'] },
  'workspaces list': { also: ['--json'] },
  'workspaces remove': { also: ['[id]', '--confirm', '--json'] },
  'members add': { required: ['--workspace', '--email', '--role'], also: ['--json'] },
  'members list': { required: ['--workspace'], also: ['--json'] },
  'keys create': { required: ['--workspace', '--name'], also: ['--by', '--json'] },
  'keys list': { required: ['--workspace'], also: ['--json'] },
  'keys revoke': { required: ['--workspace'], also: ['<key-id>', '--by', '--json'] },
  'projects list': { also: ['--workspace', '--json'] },
  'projects remove': { also: ['[id]', '--project', '--confirm', '--json'] },
  'connections set': { required: ['--project', '--kind'], also: ['--credentials', '--dataset', '--json'] },
  'connections list': { also: ['--workspace', '--json'] },
  'connections test': { required: ['--project'], also: ['--json'] },
  'connections remove': { required: ['--project', '--kind'], also: ['--json'] },
  'lists status': { also: ['--project', '--json'] },
  verify: { also: ['--repair', '--json'] },
  rebuild: { also: ['--new', '--json'] },
  'lists warm': { required: ['--project', '--period'], also: ['--json'] },
};

/** The names of the options in a command line. */
function optionsIn(text: string): string[] {
  return [...text.matchAll(/ (--[a-z-]+)/g)].map(([, name]) => name!);
}

/** The commands that do something, by name, with their help. */
const program = await programFor([]);

function helpOf(command: Command, name = ''): [name: string, help: string][] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 }).outputHelp();
  const below = command.commands.flatMap((child) => helpOf(child, `${name} ${child.name()}`.trim()));
  return below.length === 0 || name === '' ? [[name, help], ...below] : below;
}

t.test('every command explains its options, what is required and examples', (t) => {
  const commands = helpOf(program);
  const names = commands.map(([name]) => name);
  t.strictSame(
    Object.keys(COMMANDS).filter((name) => !names.includes(name)),
    [],
    'all of them are there',
  );
  for (const [command, help] of commands) {
    const usage = help.slice(0, help.indexOf('\n'));
    const { required = [], also = [] } = COMMANDS[command] ?? { required: optionsIn(usage) };
    t.ok(usage.startsWith(`Usage: ordinate ${command}`.trim()), `usage of ${command}`);
    const missing = [...required, ...also].filter((word) => !help.includes(word));
    t.strictSame(missing, [], `help of ${command}`);
    t.strictSame(optionsIn(usage), required, `what ${command} requires stands in its usage`);
    const marked = help.split(/\n(?= {2}\S|\n)/).filter((text) => text.trimEnd().endsWith('(required)'));
    t.strictSame(
      marked.map((text) => /--[a-z-]+/.exec(text)?.[0]),
      required,
      'and is marked',
    );

    const examples = /\nExamples:\n((?: {2}.*\n)+)/.exec(help)?.[1]?.trimEnd().split('\n') ?? [];
    t.not(examples.length, 0, `'${command}' has examples`);
    for (const example of examples) {
      t.ok(example.startsWith(`  ordinate ${command}`.trimEnd()), example);
      if (command === '') continue;
      const used = optionsIn(example);
      t.strictSame(
        [...used.filter((name) => !help.includes(`  ${name}`)), ...required.filter((name) => !used.includes(name))],
        [],
        `${example}: options that there are, and all that are required`,
      );
    }
  }
  t.end();
});

t.test('the help of a command lists the settings that it reads', (t) => {
  const helps = new Map(
    helpOf(program).map(([command, help]) => {
      const [, settings = ''] = help.split('Settings, from the environment:\n');
      return [command, [...settings.matchAll(/^ {2}([A-Z]\w+) +\S/gm)].map(([, name]) => name!)];
    }),
  );
  const all: string[] = Object.values(SETTINGS).map(({ name }) => name);
  for (const command of ['', 'serve', 'demo']) t.strictSame(helps.get(command), all, command);
  t.strictSame(helps.get('describe'), ['ORDINATE_LOG_LEVEL']);
  const catalog = ['ORDINATE_DATA', 'ORDINATE_CATALOG', 'ORDINATE_CATALOG_CONNECTIONS', 'ORDINATE_LOG_LEVEL'];
  for (const command of ['keys create', 'keys list', 'members add', 'sync status', 'audit list']) {
    t.strictSame(helps.get(command), catalog, command);
  }
  // The server takes all of them, and so do commands that start or install it.
  const serve = ['', 'serve', 'demo', 'install-service'];
  const readers: Readonly<Record<string, readonly string[]>> = {
    PORT: ['login', 'feeds create'],
    ORDINATE_CORS_ORIGINS: [],
    ORDINATE_METRICS_PORT: ['work'],
    ORDINATE_KEEP_DAYS: ['work', 'projects create', 'prune', 'verify'],
    ORDINATE_LISTS_DISK: ['work', 'lists status', 'lists warm', 'channels digest'],
    ORDINATE_BIGQUERY_BYTES: [
      ...[
        'work',
        'properties',
        'projects create',
        'projects set',
        'keywords add',
        'connections test',
        'channels digest',
      ],
      ...['lists status', 'lists warm', 'verify'],
    ],
  };
  for (const [name, commands] of Object.entries(readers)) {
    const listed = [...helps].filter(([, settings]) => settings.includes(name)).map(([command]) => command);
    t.strictSame(listed.sort(), [...serve, ...commands].sort(), name);
  }
  t.end();
});

t.test('help goes to standard output and is no failure', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  t.match(await run(t, { ORDINATE_DATA: dataFolder }, 'keys', 'create', '--help'), {
    code: 0,
    stdout: /^Usage: .*\nExamples:/s,
    stderr: '',
  });
  t.notOk(existsSync(dataFolder), 'and makes nothing');
});

/** What stands on standard error: sentences, no stack trace, nothing of the code. */
function isTold(t: Test, what: string, ended: Ended, says: RegExp): void {
  t.not(ended.code, 0, `${what} fails`);
  t.equal(ended.stdout, '', `${what}: standard output is for results`);
  t.match(ended.stderr, says, what);
  t.notMatch(ended.stderr, /^\s+at |node:internal|\.ts:\d|^(\w*Error|Uncaught)\b/m, `${what}: no stack trace`);
}

t.test('errors are sentences on standard error, and the exit status tells', async (t) => {
  const folder = temporaryFolder(t);
  const empty = join(folder, 'empty');
  const aFile = join(folder, 'file');
  mkdirSync(empty);
  writeFileSync(aFile, '');
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] })]);
  const before = readFileSync(join(dataFolder, 'catalog.sqlite'));
  const create = ['workspaces', 'create', '--id', 'acme', '--name', 'Acme'];
  const add = ['members', 'add', '--workspace'];
  const bulk = ['import', 'bulk-export', empty];
  const wrong: [says: RegExp, words: string[], settings?: NodeJS.ProcessEnv][] = [
    [/unknown command 'nonsense'/, ['nonsense']],
    [/missing required argument 'folder'/, ['load']],
    [/no folder.*\/no\/such/, ['load', '/no/such']],
    [/whole number/, [...bulk, '--workspace', 'acme', '--property', 'sc-domain:a.example', '--track-top', 'many']],
    [/--plan/, create],
    [/already a workspace 'acme'/, [...create, '--plan', 'team']],
    [/at least 1/, [...create, '--plan', 'team', '--keyword-history-days', '0']],
    [/owner, admin, member/, [...add, 'acme', '--email', 'a@a.example', '--role', 'king']],
    [/e-mail/, [...add, 'acme', '--email', 'nobody', '--role', 'owner']],
    [/workspace 'nowhere'/, ['keys', 'create', '--workspace', 'nowhere', '--name', 'x']],
    [/a line of text of 1 to 100/, ['keys', 'create', '--workspace', 'acme', '--name', ' ']],
    [/no key with the id 'x'/, ['keys', 'revoke', 'x', '--workspace', 'acme']],
    [/workspace 'nowhere'/, ['projects', 'list', '--workspace', 'nowhere']],
    [/not empty.*'acme'/, ['demo']],
    [/whole number from 0 to 65535/, ['serve', '--port', 'x']],
    [/PORT must be a whole number from 0 to 65535, not '99999'/, ['serve'], { PORT: '99999' }],
    [/ORDINATE_THREDS is not a setting/, ['serve'], { ORDINATE_THREDS: '2' }],
    [
      /ORDINATE_MEMORY_LIMIT must be .*'much'.*\nORDINATE_LOG_LEVEL|ORDINATE_LOG_LEVEL.*\nORDINATE_MEMORY_LIMIT must be .*'much'/,
      ['serve'],
      { ORDINATE_MEMORY_LIMIT: 'much', ORDINATE_LOG_LEVEL: 'loud' },
    ],
    [/file/, ['projects', 'list'], { ORDINATE_DATA: aFile }],
  ];
  await eachOf(wrong, async ([says, words, settings]) => {
    const ended = await command({ ORDINATE_DATA: dataFolder, ...settings }, ...words);
    isTold(t, [...Object.values(settings ?? {}), ...words].join(' ').replaceAll(folder, ''), ended, says);
  });
  t.ok(readFileSync(join(dataFolder, 'catalog.sqlite')).equals(before), 'nothing was written');
  t.strictSame(globSync('{facts/*_*,staging}/**/*.*', { cwd: dataFolder }), []);
});

t.test('from a first workspace to imported data, with --json', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'deep', 'data');
  const { ordinate, json } = commandLine(t, dataFolder);
  const create = ['workspaces', 'create', '--id', 'acme', '--name', 'Acme & Co', '--plan', 'team'];
  t.match(await ordinate(...create, '--keyword-history-days', '90'), {
    code: 0,
    stdout: /'acme'/,
    stderr: /^Created the data folder .+\n$/,
  });
  t.strictSame(await json('workspaces', 'list'), [
    {
      id: 'acme',
      name: 'Acme & Co',
      plan: 'team',
      keywordHistoryDays: 90,
      requestsPerMinute: null,
      keepDays: null,
      projects: 0,
    },
  ]);

  const add = ['members', 'add', '--workspace', 'acme', '--email'];
  t.match(await ordinate(...add, 'a@acme.example', '--role', 'member'), { code: 0, stderr: '' });
  t.match(await ordinate(...add, 'b@acme.example', '--role', 'admin'), { code: 0, stderr: '' });
  t.match(await ordinate(...add, 'a@acme.example', '--role', 'owner'), { code: 0, stderr: '' }, 'another role');
  const table = await ordinate('members', 'list', '--workspace', 'acme');
  t.equal(table.stdout, 'EMAIL           ROLE\na@acme.example  owner\nb@acme.example  admin\n', 'a table for people');
  t.strictSame(await json('members', 'list', '--workspace', 'acme'), [
    { email: 'a@acme.example', role: 'owner' },
    { email: 'b@acme.example', role: 'admin' },
  ]);

  const snapshot = writeSnapshot(t, {
    projects: [PROJECT],
    keywords: [keyword('Kw001', 'shoes')],
    site_daily: facts('date device', ['2026-03-01', 'desktop', 3, 100, 900], ['2026-03-09', 'mobile', 1, 60, 120]),
    country_monthly: facts('month country', ['2026-01-01', 'usa', 31, 310, 620]),
  });
  const dry = await json('load', snapshot, '--dry-run');
  t.match(dry, { loaded: false, tables: { site_daily: { rows: 2 } } });
  t.strictSame(await json('projects', 'list'), []);
  const loaded = await json('load', snapshot);
  t.match(loaded, {
    loaded: true,
    tables: {
      projects: { rows: 1 },
      keywords: { rows: 1 },
      site_daily: { rows: 2, projects: 1, firstDay: '2026-03-01', lastDay: '2026-03-09' },
    },
    projects: ['Proj1'],
    warnings: [],
  });
  t.match(await ordinate('load', snapshot, '--replace'), {
    code: 0,
    stderr: '',
    stdout: /site_daily: 2 rows.*Loaded/s,
  });

  const broken = writeSnapshot(t, {
    keywords: [keyword('bad', 'x')],
    site_daily: facts('date device', ['2026-02-30', 'desktop', 1.5, 100, 900]),
  });
  const refused = await ordinate('load', broken, '--json');
  t.equal(refused.code, 1);
  t.match(JSON.parse(refused.stdout), { loaded: false });
  const { problems } = JSON.parse(refused.stdout) as { problems: { table: string; column: string; rows: unknown[] }[] };
  t.strictSame(problems.map(({ table, column }) => `${table}.${column}`).sort(), [
    'keywords.id',
    'site_daily.clicks',
    'site_daily.date',
  ]);
  t.ok(problems.every(({ rows }) => rows.length === 1));
  isTold(
    t,
    'a load that is refused',
    { ...refused, stdout: '' },
    /not loaded.*untouched.*site_daily\.date.*2026-02-30/s,
  );
  isTold(t, 'and without --json', await ordinate('load', broken), /keywords\.id/);

  const files = join(temporaryFolder(t), 'export.parquet');
  await writeParquetRows(files, [
    {
      data_date: '2026-03-01',
      site_url: 'https://blog.example/',
      url: 'https://blog.example/a',
      query: 'Acme boots',
      is_anonymized_query: false,
      country: 'usa',
      search_type: 'WEB',
      device: 'DESKTOP',
      is_video: false,
      impressions: 10,
      clicks: 2,
      sum_position: 20,
    },
  ]);
  const bulk = ['import', 'bulk-export', files, '--workspace', 'acme', '--property', 'https://blog.example/'];
  const imported = (await json(...bulk, '--brand-term', 'acme', '--brand-term', 'a, b', '--track-top', '5')) as {
    project: { id: string };
  };
  t.match(imported, { loaded: true, project: { id: /^[A-Za-z0-9]{5}$/ }, keywordsAdded: 1 });

  const list = (await json('projects', 'list', '--workspace', 'acme')) as { id: string }[];
  t.match(
    list.find(({ id }) => id === 'Proj1'),
    {
      id: 'Proj1',
      coverage: {
        site_daily: { firstDay: '2026-03-01', lastDay: '2026-03-09', rows: 2 },
        country_monthly: { firstDay: '2026-01-01', lastDay: '2026-01-31', rows: 1 },
      },
    },
  );
  t.match(
    list.find(({ id }) => id === imported.project.id),
    { property: 'https://blog.example/', coverage: { brand_daily: { rows: 1 }, page_daily: { rows: 1 } } },
  );
  t.equal(list.length, 2);
  t.match(await ordinate('projects', 'list'), { code: 0, stdout: /Proj1.*site_daily +2026-03-01 +2026-03-09/s });
});

/** Every file of a data folder that has a text in it. */
function filesWith(dataFolder: string, text: string): string[] {
  return globSync('**/*', { cwd: dataFolder }).filter(
    (file) => !statSync(join(dataFolder, file)).isDirectory() && readFileSync(join(dataFolder, file)).includes(text),
  );
}

t.test('keys: shown once, at most 20, revoked at once, also for a running server', async (t) => {
  const folder = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  const { dataFolder } = await makeDataFolder(t, [folder], { keys: 0 });
  const { ordinate, json } = commandLine(t, dataFolder);
  const server = await serveHere(t, { ORDINATE_DATA: dataFolder });
  const create = ['keys', 'create', '--workspace', 'acme', '--name'];
  const made = (await json(...create, 'Dashboard')) as Record<string, string>;
  t.strictSame(Object.keys(made).sort(), [
    'createdAt',
    'expiresAt',
    'id',
    'key',
    'name',
    'prefix',
    'projects',
    'scope',
  ]);
  const { id, key = '', prefix = '' } = made;
  t.match(key, /^ord_live_[A-Za-z0-9]{32}$/);
  t.ok(key.startsWith(prefix) && prefix.length < 20, 'the prefix is only the first characters');
  t.match(made['createdAt'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  t.equal((await server.get('/projects', key)).status, 200, 'a new key counts at once');
  const listed = await until('the use of the key', async () => {
    const [row] = (await json('keys', 'list', '--workspace', 'acme')) as Record<string, unknown>[];
    return row?.['lastUsedAt'] === null ? undefined : row;
  });
  t.strictSame(Object.keys(listed).sort(), [
    'createdAt',
    'expiresAt',
    'id',
    'lastUsedAt',
    'name',
    'prefix',
    'projects',
    'replacedBy',
    'revokedAt',
    'scope',
  ]);
  t.match(listed, { id, name: 'Dashboard', prefix, lastUsedAt: /Z$/, revokedAt: null });
  t.strictSame(filesWith(dataFolder, key.slice(prefix.length)), [], 'the key is nowhere in clear');
  const table = await ordinate('keys', 'list', '--workspace', 'acme');
  t.match(table.stdout, /Dashboard/);
  t.notOk(table.stdout.includes(key));

  const catalog = await openCatalog(sqliteIn(dataFolder));
  for (let number = 2; number < 20; number++) {
    await createKey(catalog, { workspace: 'acme', name: `key ${number}`, by: null, at: 0 });
  }
  await catalog.close();
  const twentieth = await ordinate(...create, 'the last one');
  t.match(twentieth, { code: 0, stdout: /ord_live_[A-Za-z0-9]{32}/ });
  isTold(t, 'the 21st', await ordinate(...create, 'one more'), /'acme' has 20 active keys/);

  t.match(await ordinate('keys', 'revoke', id!, '--workspace', 'acme'), { code: 0, stderr: '' });
  const { status, body } = await server.get('/projects', key);
  t.equal(status, 401, 'a revocation counts at once');
  t.match(body, { error: { code: 'unauthorized' } });
  t.match(await ordinate(...create, 'one more'), { code: 0 }, 'there is room for another one');
  const after = (await json('keys', 'list', '--workspace', 'acme')) as { id: string; revokedAt: string | null }[];
  t.match(
    after.find((row) => row.id === id),
    { revokedAt: /Z$/ },
  );
  t.equal(after.filter(({ revokedAt }) => revokedAt === null).length, 20);
  await server.stop();
  t.match(server.log.join(''), /answered/);
  t.notOk(server.log.join('').includes(key), 'nor is the key in the log');
});

t.test('keys: with --by only owners and admins may', async (t) => {
  const folder = writeSnapshot(t, { workspaces: [WORKSPACE, { ...WORKSPACE, id: 'beta' }] });
  const { dataFolder } = await makeDataFolder(t, [folder]);
  const { ordinate } = commandLine(t, dataFolder);
  const catalog = await openCatalog(sqliteIn(dataFolder));
  await addMember(catalog, 'acme', 'owner@a.example', 'owner');
  await addMember(catalog, 'acme', 'admin@a.example', 'admin');
  await addMember(catalog, 'acme', 'member@a.example', 'member');
  await addMember(catalog, 'beta', 'other-owner@a.example', 'owner');
  await catalog.close();
  const create = (email: string) =>
    ordinate('keys', 'create', '--workspace', 'acme', '--name', 'k', '--by', email, '--json');
  const ids: string[] = [];
  await eachOf(['owner@a.example', 'admin@a.example'], async (email) => {
    const { code, stdout } = await create(email);
    t.equal(code, 0, email);
    ids.push((JSON.parse(stdout) as { id: string }).id);
  });
  const revoke = (email: string) => ordinate('keys', 'revoke', ids[0]!, '--workspace', 'acme', '--by', email);
  await eachOf(['member@a.example', 'other-owner@a.example', 'nobody@a.example'], async (email) => {
    isTold(t, `create by ${email}`, await create(email), /Only an owner or admin/);
  });
  isTold(t, 'revoke by a member', await revoke('member@a.example'), /Only an owner or admin/);
  isTold(
    t,
    'a key of another workspace',
    await ordinate('keys', 'revoke', ids[0]!, '--workspace', 'beta'),
    /'beta' has no key/,
  );
  t.match(await revoke('admin@a.example'), { code: 0 });
});

t.test('npm run -s ordinate -- COMMAND', async (t) => {
  const root = join(import.meta.dirname, '../..');
  const paths = process.env['PATH']?.split(':') ?? [];
  if (!paths.some((path) => existsSync(join(path, 'npm')))) {
    t.pass('not run', { skip: 'there is no npm' });
    return;
  }
  const env = environmentOf({ ORDINATE_DATA: join(temporaryFolder(t), 'data') });
  const stdout = await new Promise<string>((done, failed) => {
    const options = ['--id', 'acme', '--name', 'Acme', '--plan', 'team', '--json'];
    const words = ['run', '-s', 'ordinate', '--', 'workspaces', 'create', ...options];
    execFile('npm', words, { cwd: root, env }, (error, text) => (error ? failed(error) : done(text)));
  });
  t.match(JSON.parse(stdout), { id: 'acme', name: 'Acme', plan: 'team' });
});
