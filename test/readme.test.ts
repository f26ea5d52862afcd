import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t from 'tap';
import { ERRORS } from '../server/domain/errors.ts';
import { Engine } from '../server/facts/engine.ts';
import { SETTINGS } from '../server/settings.ts';
import { credentialsFile } from './fakes/connected.ts';
import { fakeSearchConsole } from './fakes/search-console.ts';
import { temporaryFolder } from './world.ts';

// Many processes, one after the other.
t.setTimeout(120_000);

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const run = promisify(execFile);

/** The commands of a block: a shell script marked with `sh NAME`. */
function block(name: string): string {
  const text = new RegExp(`\`\`\`sh ${name}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (text === undefined) throw new Error(`README.md has no commands '${name}'`);
  return text;
}

/** Runs commands of the README in a folder of their own; `npm run -s ordinate --` is the one of this checkout. */
async function shell(commands: string, cwd: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const npm = `npm() { shift 4; ${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'scripts/ordinate.ts'))} "$@"; }`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${npm}\n${commands}`], {
    cwd,
    env: { ...process.env, ...environment },
  });
  return stdout;
}

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
    Object.entries(ERRORS).map(([code, { status, when }]) => `| ${status} | \`${code}\` | ${when} |`),
  ),
};

t.test('the tables of the README are those of the code (UPDATE_README=1 writes them)', (t) => {
  let text = readme;
  for (const [name, wanted] of Object.entries(TABLES)) {
    text = text.replace(new RegExp(`<!-- ${name}:[\\s\\S]*?<!-- /${name} -->`), () => wanted);
    t.ok(text.includes(wanted), `README.md has a place for the ${name}`);
  }
  if (process.env['UPDATE_README'] === '1') writeFileSync(join(root, 'README.md'), text);
  else t.equal(readme, text);
  t.end();
});

t.test('npm start, the first answers, npm test', async (t) => {
  const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
    .scripts;
  t.equal(block('start'), 'npm ci && npm start\n');
  t.equal(block('test'), 'npm test\n');
  t.ok(scripts['test']);
  // test/scripts/bench.test.ts runs it.
  t.equal(block('bench'), 'npm run bench -- --quick\n');
  t.ok(scripts['bench']);
  const [, ...args] = (scripts['start'] ?? '').split(' ');
  const folder = temporaryFolder(t);
  const server = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ORDINATE_DATA: join(folder, 'data'), PORT: '0', ORDINATE_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  let curl: string | undefined;
  for await (const line of createInterface({ input: server.stdout })) {
    curl = /^\s*(curl .*)$/.exec(line)?.[1];
    if (curl !== undefined) break;
  }
  const pasted = await shell(curl ?? 'false', folder, {});
  t.equal((JSON.parse(pasted) as { projects: unknown[] }).projects.length, 2, 'the line that is printed works');

  const [, key = '', address = ''] = /Bearer (\S+)' (http:\/\/\S+?)\/api/.exec(curl ?? '') ?? [];
  const asked = block('ask')
    .replace(/^export KEY=.*$/m, '')
    .replaceAll('http://127.0.0.1:3000', address)
    .replaceAll('curl -s', 'curl -sf -w "\\n"');
  const answers = (await shell(asked, folder, { KEY: key })).trim().split('\n');
  t.equal(answers.length, 5);
  for (const answer of answers) t.notOk((JSON.parse(answer) as { error?: unknown }).error);
  server.kill('SIGTERM');
  t.strictSame(await once(server, 'exit'), [0, null], 'a signal stops it gracefully');
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
  t.match(out, /site_daily +2026-03-01 to 2026-03-01 +1 rows/);
  engine.close();
});

t.test('the load of a snapshot', async (t) => {
  const folder = temporaryFolder(t);
  const out = await shell(block('snapshot'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /nothing was loaded \(dry run\)/);
  t.match(out, /Loaded\. Projects: Shop1\./);
});

t.test('lists live from the search provider', async (t) => {
  const folder = temporaryFolder(t);
  const google = await fakeSearchConsole(t);
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
  t.equal((JSON.parse(status) as { lists: number }).lists, 2, 'pages and queries stand ready');
});

t.test('every command of the program stands in the README', async (t) => {
  const folder = temporaryFolder(t);
  const commandsOf = async (...path: string[]): Promise<string[]> => {
    const help = await shell(`npm run -s ordinate -- ${path.join(' ')} --help`, folder, {});
    const section = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(help)?.[1] ?? '';
    return [...section.matchAll(/^ {2}([a-z-]+)/gm)].map((match) => match[1]!).filter((name) => name !== 'help');
  };
  const names = await commandsOf();
  t.ok(names.length >= 8);
  for (const name of names) {
    const below = await commandsOf(name);
    for (const command of below.length > 0 ? below.map((sub) => `${name} ${sub}`) : [name]) {
      t.match(readme, new RegExp(`\`${command}[ \`]`), command);
    }
  }
});
