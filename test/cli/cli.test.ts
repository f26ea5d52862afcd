// Every command explains itself, and runs by npm.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import t from 'tap';
import { programFor } from '../../cli/program.ts';
import { environmentOf, run } from '../process.ts';
import { temporaryFolder } from '../world.ts';

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
