// Commands handle signals, closed pipes, leftovers of killed servers and unusable data folders cleanly.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { serve } from '../../server/main.ts';
import { ProcessFolder } from '../../server/runtime/process-folder.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { atNight, isNight } from '../night.ts';
import {
  CTRL_C,
  makeDataFolder,
  noTerminals,
  run,
  start,
  startInTerminal,
  startProgram,
  startServer,
  until,
  untilReady,
} from '../process.ts';
import { ROOT } from '../readme.ts';
import { PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

// How a server starts and ends: its data folder, its temporary files, npm around it.

t.test('SIGTERM to npm start ends the server', async (t) => {
  // With a workspace in it, so that no demo is made.
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, { workspaces: [WORKSPACE] })]);
  const npm = await untilReady(startProgram(t, { ORDINATE_DATA: dataFolder, PORT: '0' }, 'npm', 'start'));
  npm.child.kill('SIGTERM');
  await until('the server to be gone', () =>
    fetch(`${npm.address}/livez`).then(
      () => undefined,
      () => true,
    ),
  );
  t.match((await npm.ended).stderr, '"stopping"', 'it was told to stop');
  t.strictSame(readdirSync(join(dataFolder, 'temporary')), [], 'and did so in order');
});

t.test(
  'Ctrl-C in a terminal, which signals npm and the server, and npm passes it on',
  isNight ? { skip: noTerminals } : atNight,
  async (t) => {
    for (const line of ['npm start', 'npm run ordinate -- serve --workers 2']) {
      const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, { workspaces: [WORKSPACE] })]);
      const running = startInTerminal(t, { ORDINATE_DATA: dataFolder, PORT: '0', ORDINATE_JOBS: 'on' }, `exec ${line}`);
      await until(`${line} to run`, () => /ready at/.test(running.printed.stdout) || undefined);
      running.type(CTRL_C);
      const { code, stdout } = await running.ended;
      t.equal(code, 0, `${line} ${stdout}`);
      t.match(stdout, '"stopping"');
      t.notMatch(stdout, 'second SIG');
      t.strictSame(readdirSync(join(dataFolder, 'temporary')), [], 'it stopped in order');
    }
  },
);

t.test('signals within a second are one; a later one ends the process', async (t) => {
  const program = `
    const { stopOnSignals } = await import('./server/runtime/stop-on-signals.ts');
    let now = 0;
    const log = { error: (text) => console.log(text) };
    stopOnSignals({ log, delay: 600_000, now: () => now }, async ({ signal }) => {
      console.log('stopping by ' + signal);
      await new Promise(() => {});
    });
    // Signals alone keep no process running.
    setInterval(() => {}, 1000);
    for (const [at, signal] of [[0, 'SIGINT'], [0, 'SIGINT'], [999, 'SIGTERM'], [1000, 'SIGINT'], [1001, 'SIGINT']]) {
      now = at;
      const arrived = new Promise((resolve) => process.once(signal, resolve));
      process.kill(process.pid, signal);
      await arrived;
      console.log(signal + ' at ' + at);
    }`;
  const { code, stdout } = await startProgram(t, {}, process.execPath, '--input-type=module', '--eval', program).ended;
  t.equal(code, 1);
  t.strictSame(stdout.trim().split('\n'), [
    'stopping by SIGINT',
    'SIGINT at 0',
    'SIGINT at 0',
    'SIGTERM at 999',
    'second SIGINT, exiting',
  ]);
});

t.test('a command whose output nobody reads any more ends quietly, and does its work', async (t) => {
  const folder = temporaryFolder(t);
  const more = ['--id', 'acme', '--name', 'Acme', '--plan', 'team', '--json'];
  const { child, ended } = start(t, { ORDINATE_DATA: join(folder, 'data') }, 'workspaces', 'create', ...more);
  // As `| head` does once it has read enough.
  child.stdout!.destroy();
  const { code, stdout, stderr } = await ended;
  t.strictSame([code, stdout, stderr], [0, '', `Created the data folder ${join(folder, 'data')}\n`]);
  t.match(await command({ ORDINATE_DATA: join(folder, 'data') }, 'workspaces', 'list'), { stdout: /acme/ });
});

t.test('commands that only look make no data folder', async (t) => {
  const folder = temporaryFolder(t);
  const missing = join(folder, 'missing');
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const looks = [
    ['workspaces', 'list'],
    ['keys', 'create', '--workspace', 'acme', '--name', 'n'],
    ['lists', 'warm', '--project', 'Proj1', '--period', '1d'],
  ];
  const ended = await Promise.all([
    ...looks.map((words) => command({ ORDINATE_DATA: relative(ROOT, missing) }, ...words)),
    command({ ORDINATE_DATA: empty }, 'projects', 'list'),
  ]);
  for (const [index, { code, stdout, stderr }] of ended.entries()) {
    const path = index < looks.length ? missing : empty;
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: `There is no data of Ordinate in '${path}'.` });
  }
  const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  for (const path of [missing, empty]) {
    const { code, stdout } = await command({ ORDINATE_DATA: path }, 'load', snapshot, '--dry-run');
    t.match({ code, stdout }, { code: 0, stdout: /in order; nothing was loaded \(dry run\)\. Projects: Proj1\./ });
  }
  t.notOk(existsSync(missing));
  t.strictSame(readdirSync(empty), []);

  const makes = ['workspaces', 'create', '--id', 'acme', '--name', 'Acme', '--plan', 'team'];
  const made = await command({ ORDINATE_DATA: relative(ROOT, missing) }, ...makes);
  t.match(made, { code: 0, stdout: /^(?!.*Created)/s });
  t.equal(made.stderr, `Created the data folder ${missing}\n`, 'a folder that is made is named');
  t.ok(existsSync(join(missing, 'catalog.sqlite')));
  t.equal((await command({ ORDINATE_DATA: missing }, 'workspaces', 'list')).stderr, '', 'once');
});

t.test('a data folder that cannot be made is refused at once', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  for (const place of [file, join(file, 'below')]) {
    await t.rejects(openCatalog(sqliteIn(place)), {
      message: new RegExp(`^The data folder '${place}' .*Set ORDINATE_DATA to `),
    });
  }
  if (process.platform !== 'linux') {
    t.pass('not run', { skip: 'only Linux has a folder that takes none from anybody' });
    return;
  }
  // Node's own way of making folders never comes back from here.
  t.match(await command({ ORDINATE_DATA: '/proc/nope/deeper' }, 'serve'), {
    code: 1,
    stderr: /^The data folder '\/proc\/nope\/deeper' cannot be created: .*Set ORDINATE_DATA to .*\n$/,
  });
});

t.test(
  'a server says where its data is; what a killed one left behind goes, and what a running one uses stays',
  async (t) => {
    const dataFolder = join(temporaryFolder(t), 'data');
    await (await openCatalog(sqliteIn(dataFolder))).close();
    const temporary = join(dataFolder, 'temporary');
    // As earlier versions named it, on a machine that is no more.
    mkdirSync(join(temporary, 'other-host-1'), { recursive: true });
    writeFileSync(join(temporary, 'other-host-1', 'duckdb_temp_storage_DEFAULT-0.tmp'), 'x');
    const server = await startServer(t, { ORDINATE_DATA: relative(ROOT, dataFolder) });
    const said = (): boolean => server.printed.stdout.includes(`data folder is ${dataFolder}\n`);
    await until('where its data is', () => said() || undefined);
    const logged = (): boolean => server.printed.stderr.includes(`"dataFolder":"${dataFolder}"`);
    await until('its log to say so too', () => logged() || undefined);
    const folders = () =>
      readdirSync(temporary, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(temporary, name))
        .sort();
    const [theirs = '', ...others] = folders();
    t.strictSame(others, [], 'only its own is left');
    writeFileSync(join(theirs, 'duckdb_temp_storage_DEFAULT-0.tmp'), 'x');

    const first = await ProcessFolder.take(temporary);
    t.strictSame(folders(), [theirs, first.path].sort());
    server.child.kill('SIGKILL');
    await server.ended;
    const second = await ProcessFolder.take(temporary);
    t.strictSame(folders(), [first.path, second.path].sort());
    await first.remove();
    await second.remove();
    t.strictSame(readdirSync(temporary), [], 'no lock is left either');
  },
);

t.test('a server that cannot be built closes what it had opened', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  await (await openCatalog(sqliteIn(dataFolder))).close();
  const before = readdirSync(dataFolder).sort();
  writeFileSync(join(dataFolder, 'lists'), 'a file where a folder has to be');
  let isClosed = false;
  const watch = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onClose', (_app, done) => {
      isClosed = true;
      done();
    });
  };
  subscribe('fastify.initialization', watch);
  t.teardown(() => unsubscribe('fastify.initialization', watch));
  await t.rejects(serve(readSettings({ ORDINATE_DATA: dataFolder, PORT: '0', ORDINATE_LOG_LEVEL: 'silent' })), {
    code: 'EEXIST',
  });
  t.ok(isClosed, 'what stood of the application');
  t.strictSame(readdirSync(join(dataFolder, 'temporary')), [], 'the engine and its folder');
  const more = readdirSync(dataFolder).filter((name) => !before.includes(name));
  t.strictSame(
    more.sort(),
    ['lists', 'ordinate-store.json', 'temporary', 'usage.sqlite'],
    'the catalog and the usage: no -wal file is left',
  );
});

t.test('compiled modules are kept for the next command, in a data folder and for its owner only', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, { workspaces: [WORKSPACE] })]);
  // Where a cache is set from outside, Node uses that one.
  const settings = { NODE_COMPILE_CACHE: undefined };
  const ended = await run(t, { ...settings, ORDINATE_DATA: dataFolder }, 'workspaces', 'list');
  t.equal(ended.code, 0);
  t.equal(statSync(join(dataFolder, 'compiled')).mode & 0o777, 0o700);
  const other = temporaryFolder(t);
  await run(t, { ...settings, ORDINATE_DATA: other }, '--version');
  t.strictSame(readdirSync(other), [], 'nothing is written into a folder that is not a data folder');
});
