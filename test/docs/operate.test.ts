// Every procedure in the runbook works as printed, from backups to the recovery of a lost catalog.
import { existsSync, globSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DEPLOYMENT_TOOLS } from '../deployment-tools.ts';
import { ROOT } from '../readme.ts';
import { runScript } from '../shell.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, temporaryFolder, WORKSPACE } from '../world.ts';
import { guideBlock, guideBlocks, triedBlocks } from './blocks.ts';

// Runs every block of the runbook, on a server with the id of the demo.
const ID = 'Fw7kd';
const { app, key, catalog, dataFolder } = await makeWorld(
  t,
  {
    workspaces: [{ ...WORKSPACE, plan: 'agency' }],
    projects: [{ ...PROJECT, id: ID }],
    keywords: ofProject(ID, [keyword('kw000', 'red shoes')]),
    site_daily: ofProject(ID, facts('date device', ['2026-03-01', 'mobile', 20, 200, 900])),
    keyword_daily: ofProject(ID, facts('keyword_id date device', ['kw000', '2026-03-01', 'mobile', 20, 200, 900])),
  },
  { now: Date.now },
);
const address = await app.listen({ port: 0 });
const folder = temporaryFolder(t);
const environment = { ...process.env, KEY: key, ORDINATE_DATA: dataFolder };
const shell = (script: string): Promise<string> => runScript(script, folder, environment);

t.test('backups', async (t) => {
  const own = (name: string): string =>
    guideBlock('operate', name)
      .replaceAll('/mnt/backup', join(folder, 'backup'))
      .replaceAll('./restored', join(folder, 'restored'));
  t.match(await shell(own('backup')), /Backed up .*\nIt is .*; 1 kept[\s\S]*ID +TIME[\s\S]*All is in order/);
  t.match(await shell(own('restore')), /Restored 1 projects/);
});

t.test('retention', async (t) => {
  const printed = await shell(guideBlock('operate', 'retention').replaceAll(' demo ', ' acme '));
  t.match(printed, /Workspace 'acme' keeps 400 days of facts[\s\S]*(?:Nothing is older than what is kept|dry run)/);
});

t.test('installation and upgrades; what runs Ordinate runs it here', async (t) => {
  // test/package/installed.ts takes these steps.
  t.match(guideBlock('operate', 'package'), 'npm pack');
  t.match(guideBlock('operate', 'production'), 'npm prune --omit=dev');
  const install = guideBlock('operate', 'optional');
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    peerDependencies: Readonly<Record<string, string>>;
  };
  t.match(install, `npm install --global @redis/client@${peerDependencies['@redis/client']}\n`);
  const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  for (const name of Object.keys(peerDependencies)) t.match(page, `\`${name}\``, 'the table has it');
  const snapshot = temporaryFolder(t);
  writeFileSync(join(snapshot, 'workspaces.csv'), 'id,name,plan,keyword_history_days\nnew,New,team,486\n');
  const data = join(temporaryFolder(t), 'data');
  const own = (name: string): Promise<string> => {
    const script = guideBlock('operate', name)
      .replaceAll(/ (\/mnt)?\/backup/g, ` ${folder}/installed-backup`)
      .replace('load /snapshot', `load ${snapshot}`);
    return runScript(DEPLOYMENT_TOOLS + script, folder, { ORDINATE_DATA: data });
  };
  t.match(await own('container'), /docker compose up[\s\S]*ord_live_[\s\S]*Loaded/);
  t.match(await own('service'), /ExecStart=[\s\S]*systemctl enable --now ordinate\nID[\s\S]*new +New/);
  for (const name of ['npm-upgrade', 'container-upgrade', 'service-upgrade'])
    t.match(await own(name), 'Backed up', name);
  t.match(await own('service-remove'), 'rm /etc/systemd/system/ordinate.service');
});

/** A data folder of its own with what the server has, beside a backup of it, and how to run a block of the runbook over them. */
async function scene(t: Test) {
  const place = temporaryFolder(t);
  const within = (script: string): Promise<string> =>
    runScript(
      `${DEPLOYMENT_TOOLS}\n${script.replaceAll('/mnt/backup', './backup').replaceAll('http://127.0.0.1:3000', address)}`,
      place,
      { ...process.env, KEY: key, ORDINATE_DATA: join(place, 'data') },
    );
  await within(`ORDINATE_DATA='${dataFolder}' ordinate backup ./backup && ordinate restore ./backup --data ./data`);
  const block = (name: string, replaced: Readonly<Record<string, string>> = {}): Promise<string> => {
    const code = guideBlock('operate', name).replaceAll('--workspace demo', '--workspace acme');
    return within(Object.entries(replaced).reduce((script, [from, to]) => script.replaceAll(from, to), code));
  };
  const factFile = (table: string): string => globSync(`facts/${table}/**/*.parquet`, { cwd: join(place, 'data') })[0]!;
  return { place, block, factFile };
}

const IN_ORDER = /in order/;

t.test('every day, and when the server is slow or the disk full', async (t) => {
  const { block } = await scene(t);
  t.match(await block('daily'), /"status":"ok"[\s\S]*sync-projects[\s\S]*Backed up/);
  t.match(await block('slow'), /server-timing: parse[\s\S]*"status":"ok"[^\n]*"answers":\{"/i);
  t.match(await block('disk'), /data\/facts[\s\S]*There are no stored lists yet/);
});

t.test('before an upgrade, and without a failed request', async (t) => {
  const { block } = await scene(t);
  const next = { '/opt/ordinate-next/bin/ordinate': 'ordinate' };
  t.match(await block('upgrade-check', next), 'is up to date (schema version');
  t.match(await block('rolling'), 'systemctl kill --signal=USR2 --kill-whom=main ordinate');
});

t.test('a restore step by step', async (t) => {
  const { place, block } = await scene(t);
  rmSync(join(place, 'data/facts/site_daily'), { recursive: true });
  t.match(await block('restore-steps'), /Restored 1 projects[\s\S]*in order[\s\S]*systemctl start ordinate/);
  t.notOk(existsSync(join(place, 'data.lost/facts/site_daily')));
  t.ok(existsSync(join(place, 'data/facts/site_daily')));
});

t.test('keys', async (t) => {
  const { block } = await scene(t);
  const id = (await catalog.statements.all<{ id: string }>('keys.of_workspace', { workspace: 'acme' }))[0]!.id;
  t.match(await block('keys', { KEY_ID: id }), /ord_live_[\s\S]*The old key stays valid until[\s\S]*is revoked/);
});

t.test('damaged files', async (t) => {
  const { place, block, factFile } = await scene(t);
  truncateSync(join(place, 'data', factFile('keyword_cumulative')), 100);
  t.match(await block('repair'), IN_ORDER, 'a rollup is made again');
  const days = factFile('site_daily');
  truncateSync(join(place, 'data', days), 100);
  await t.rejects(block('repair'), /ended with 1/, 'days are not');
  t.match(await block('damaged-file', { 'facts/TABLE/PROJECT/FILE': days }), IN_ORDER);
});

t.test('a lost catalog', async (t) => {
  const { place, block } = await scene(t);
  for (const file of globSync('catalog.sqlite*', { cwd: join(place, 'data') })) rmSync(join(place, 'data', file));
  t.match(await block('lost-catalog'), IN_ORDER);
});

t.test('every block of the runbook was tried', async (t) => {
  const blocks = guideBlocks().filter(({ page }) => page === 'operate');
  t.ok(blocks.length > 15);
  for (const { page, name } of blocks) t.ok(triedBlocks.has(`${page} ${name}`), name);
});
