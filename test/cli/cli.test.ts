// Every command explains itself, reports errors in sentences, and can set up a workspace from nothing.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import t, { type Test } from 'tap';
import { programFor } from '../../cli/program.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { command } from '../command.ts';
import { serveHere } from '../fakes/second-server.ts';
import { filesWith } from '../hidden.ts';
import { type Ended, environmentOf, makeDataFolder, run, until } from '../process.ts';
import { PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

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
  for (const [command, help] of commands) {
    const usage = help.slice(0, help.indexOf('\n'));
    const required = optionsIn(usage);
    t.ok(usage.startsWith(`Usage: ordinate ${command}`.trim()), `usage of ${command}`);
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

t.test('help goes to standard output and is no failure', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  t.match(await run(t, { ORDINATE_DATA: dataFolder }, 'keys', 'create', '--help'), {
    code: 0,
    stdout: /^Usage: .*\nExamples:/s,
    stderr: '',
  });
  t.notOk(existsSync(dataFolder), 'and makes nothing');
});

t.test('keys: shown once, at most 20, revoked at once, also for a running server', async (t) => {
  const folder = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  const { dataFolder } = await makeDataFolder(t, [folder], { keys: 0 });
  const { ordinate, json } = commandLine(t, dataFolder);
  const server = await serveHere(t, { ORDINATE_DATA: dataFolder });
  const create = ['keys', 'create', '--workspace', 'acme', '--name'];
  const made = (await json(...create, 'Dashboard')) as Record<string, string>;
  t.equal(Object.keys(made).sort().join(' '), 'createdAt expiresAt id key name prefix projects scope');
  const { id, key = '', prefix = '' } = made;
  t.match(key, /^ord_live_[A-Za-z0-9]{32}$/);
  t.ok(key.startsWith(prefix) && prefix.length < 20, 'the prefix is only the first characters');
  t.match(made['createdAt'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  t.equal((await server.get('/projects', key)).status, 200, 'a new key counts at once');
  const listed = await until('the use of the key', async () => {
    const [row] = (await json('keys', 'list', '--workspace', 'acme')) as Record<string, unknown>[];
    return row?.['lastUsedAt'] === null ? undefined : row;
  });
  const columns = 'createdAt expiresAt id lastUsedAt name prefix projects replacedBy revokedAt scope';
  t.equal(Object.keys(listed).sort().join(' '), columns);
  t.match(listed, { id, name: 'Dashboard', prefix, lastUsedAt: /Z$/, revokedAt: null });
  t.strictSame(filesWith([dataFolder], [key.slice(prefix.length)]), [], 'the key is nowhere in clear');
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
  t.match(await ordinate(...create, 'one more'), { code: 1, stdout: '', stderr: /'acme' has 20 active keys/ });

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
