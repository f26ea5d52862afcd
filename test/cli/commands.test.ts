// Every command says what it did or why it did not: on standard output and error, with its exit status, and as JSON.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { readRecorded, sameAsRecorded } from '../recorded.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, PROJECT, temporaryFolder, writeSnapshot } from '../world.ts';

// Runs each line of the file that begins with `$`, one after the other in one data folder, and compares all that is printed:
// standard output as it is, standard error behind `!`, and an exit status other than 0 behind `=`. With
// UPDATE_RECORDED=1, new lines get their output.
const FILE = 'commands.txt';
const NOW = Date.parse('2026-03-10T12:00:00Z');

/** The folders and files that the commands name. */
function makeFiles(folder: string): void {
  const files = {
    'queries.txt': 'Red shoes\n\n boots \nred SHOES\n',
    'empty.txt': '\n',
    'password.txt': 'open sesame\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'empty'));
  const links = {
    snapshot: writeSnapshot(t, {
      projects: [
        PROJECT,
        { ...PROJECT, id: 'Proj2', domain: '東京.example', property: 'sc-domain:xn--1lqs71d.example' },
      ],
      keywords: [keyword('Kw001', 'shoes')],
      site_daily: facts('date device', ['2026-03-01', 'desktop', 3, 100, 900], ['2026-03-09', 'mobile', 1, 60, 120]),
      country_monthly: facts('month country', ['2026-01-01', 'usa', 31, 310, 620]),
    }),
    broken: writeSnapshot(t, {
      keywords: [keyword('bad', 'x')],
      site_daily: facts('date device', ['2026-02-30', 'desktop', 1.5, 100, 900]),
    }),
  };
  for (const [name, path] of Object.entries(links)) paths.set(path, name);
}

/** Folders with names of this run, as the file names them. */
const paths = new Map<string, string>();

/** Without what is made by chance. */
function plain(text: string): string {
  let told = text;
  for (const [path, name] of paths) told = told.replaceAll(path, name);
  return told
    .replaceAll(/ord_([a-z]+)_\w+/g, 'ord_$1_…')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[-0-9a-f]{17}/g, 'UUID')
    .replaceAll(/"id": "(?!Proj|Kw0|acme|beta)\w{5}"/g, '"id": "ID"')
    .replaceAll(/"(key|prefix)": "[^"]*"/g, '"$1": "…"')
    .replaceAll(/"(seconds|bytes)": [\d.]+/g, '"$1": N')
    .replaceAll(/\b\d+\.\d s\b/g, 'N s')
    .replaceAll(/command line \(\w+\)/g, 'command line (USER)')
    .replaceAll(/ +$/gm, '');
}

t.test('the commands of the file', localOnly, async (t) => {
  const { now } = Date;
  let minutes = 0;
  Date.now = () => NOW + minutes * 60_000;
  t.teardown(() => Object.assign(Date, { now }));
  const folder = temporaryFolder(t);
  const dataFolder = join(folder, 'data');
  paths.set(dataFolder, 'DATA').set(folder, 'FOLDER');
  makeFiles(folder);
  const known = readRecorded(FILE);
  const told: string[] = [];
  for (const line of known.split('\n').filter((each) => each.startsWith('$ '))) {
    const words = [...line.slice(2).matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    const settings: NodeJS.ProcessEnv = { ORDINATE_DATA: dataFolder };
    while (/^[A-Z_]+=/.test(words[0]!)) {
      const [name = '', value] = words.shift()!.split('=');
      settings[name] = value;
    }
    const real = words.map(
      (word) => [...paths].find(([, name]) => name === word)?.[0] ?? word.replace('FOLDER', folder),
    );
    minutes++;
    const { code, stdout, stderr } = await command(settings, ...real);
    const errors = plain(stderr).trimEnd();
    told.push(
      [
        line,
        ...(stdout === '' ? [] : [plain(stdout).trimEnd()]),
        ...(errors === '' ? [] : [errors.replaceAll(/^/gm, '! ')]),
        ...(code === 0 ? [] : [`= ${code}`]),
        '',
      ].join('\n'),
    );
  }
  sameAsRecorded(t, FILE, told.join('\n'), /\n(?=\$ )/);
});
