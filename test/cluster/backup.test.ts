// A backup of a database and an object store is one state of both, and is restored into new ones or onto one machine.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { backup } from '../../server/maintenance/backup.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { startServer } from '../process.ts';
import { facts, ONE_THREAD, type Tables, temporaryFolder, writeSnapshot } from '../world.ts';
import { newDatabase } from './databases.ts';
import { makeCluster, skip } from './nodes.ts';
import { Bucket } from './servers/object-store.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
const ASKED = ['site', 'keywords', 'pages', 'breakdowns', 'keywords?daily=1'].map(
  (what) => `/projects/Proj1/${what}${what.includes('?') ? '&' : '?'}${RANGE}`,
);

async function json<T>(environment: NodeJS.ProcessEnv, ...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await command(environment, ...words, '--json');
  if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

async function load(t: Test, node: NodeJS.ProcessEnv, tables: Tables): Promise<void> {
  const { code, stderr } = await command(node, 'load', writeSnapshot(t, tables), '--accept-implausible');
  if (code !== 0) throw new Error(stderr);
}

/** What a new server of some stores answers, but when lists were fetched: they are not part of a backup. */
async function answers(t: Test, environment: NodeJS.ProcessEnv, key: string): Promise<unknown[]> {
  const server = await startServer(t, { ...environment, ORDINATE_JOBS: 'off' });
  const all = [];
  for (const path of ASKED) all.push(await server.get(path, key));
  server.child.kill('SIGKILL');
  await server.ended;
  const text = JSON.stringify(all.map(({ status, body }) => ({ status, body })));
  return JSON.parse(text.replaceAll(/"fetchedAt":"[^"]*"/g, '"fetchedAt":null')) as unknown[];
}

/** A cluster with a key, and the stores of another one, which are empty. */
async function makeScene(t: Test) {
  const cluster = await makeCluster(t);
  const node = cluster.node();
  await load(t, node, EVERYTHING);
  const { key } = await json<{ key: string }>(node, 'keys', 'create', '--workspace', 'acme', '--name', 'test');
  const bucket = await Bucket.create(t, process.env['ORDINATE_TEST_S3']!);
  const empty = {
    ...bucket.settings(process.env['ORDINATE_TEST_S3']!, 'other/prefix'),
    ORDINATE_CATALOG: await newDatabase(t),
    ORDINATE_DATA: join(temporaryFolder(t), 'data'),
    ORDINATE_CACHE: '0MB',
  };
  return { ...cluster, node, key, empty, target: join(temporaryFolder(t), 'backup') };
}

t.test('a drill: all stores are lost, and come back from a backup that was made beside a load', { skip }, async (t) => {
  const { node, key, empty, target } = await makeScene(t);
  const before = await answers(t, node, key);
  for (const answer of before) t.match(answer, { status: 200 });

  const settings = readSettings({ ...ONE_THREAD, ...node });
  {
    await using catalog = await openCatalog(settings);
    let loading: Promise<void> | undefined;
    const report = (step: string): void => {
      // The catalog is copied by then.
      if (!step.startsWith('comparing and copying')) return;
      loading ??= load(t, node, { site_daily: facts('date device', ['2026-03-09', 'mobile', 999, 1000, 900]) });
    };
    const made = await backup({ settings, catalog }, { target, keep: 7, report });
    await loading;
    t.match(made, { files: Number, linked: 0, kept: 1, warnings: [] });
    t.equal(made.copied, made.files);
  }
  const after = await answers(t, node, key);
  t.notSame(after, before, 'the load has changed answers');
  t.match(await command({}, 'verify', target), { code: 0, stdout: /All is in order/ });

  const restored = await json<{ present: number; files: number }>(empty, 'restore', target);
  t.match(restored, { present: 0, projects: 2 });
  t.match(await command(empty, 'verify', '--deep'), { code: 0, stdout: /All is in order/ });
  t.strictSame(await answers(t, empty, key), before, 'the state that the catalog had');

  const folder = join(temporaryFolder(t), 'one-machine');
  await json(empty, 'restore', target, '--data', folder);
  t.match(await command({ ORDINATE_DATA: folder }, 'verify'), { code: 0, stdout: /All is in order/ });
  t.strictSame(await answers(t, { ORDINATE_DATA: folder }, key), before, 'on one machine');

  const second = await json<{ copied: number }>(node, 'backup', target);
  t.equal(second.copied, 1, 'only what the load wrote');
  t.match(await json(node, 'backup', 'list', target), [{}, {}]);
});

t.test('a damaged backup restores nothing, and the restore goes on when it is whole', { skip }, async (t) => {
  const { node, key, empty, target } = await makeScene(t);
  await json(node, 'backup', target);
  const [index] = await json<{ id: string }[]>(node, 'backup', 'list', target);
  const lines = readFileSync(join(target, 'indexes', `${index!.id}.ndjson`), 'utf8')
    .trim()
    .split('\n');
  const { file } = JSON.parse(lines.at(-2)!) as { file: string };
  const path = join(target, file);
  const intact = readFileSync(path);
  const flipped = Buffer.from(intact);
  flipped[flipped.length >> 1]! ^= 1;
  writeFileSync(path, flipped);
  t.match(await command(empty, 'restore', target), {
    code: 1,
    stderr: /Nothing was restored.*is damaged: its SHA-256/,
  });
  t.match(await command(empty, 'projects', 'list'), { code: 1, stderr: /There is no catalog/ });
  rmSync(path);
  t.match(await command(empty, 'restore', target), { code: 1, stderr: /is damaged: it is missing/ });
  writeFileSync(path, intact);
  const { present, files } = await json<{ present: number; files: number }>(empty, 'restore', target);
  t.ok(present > 0 && present < files, 'files that were there are not copied again');
  t.strictSame(await answers(t, empty, key), await answers(t, node, key));
  t.match(
    await command(empty, 'restore', target),
    { code: 1, stderr: /There is a catalog in .* already; nothing was restored/ },
    'never over another catalog',
  );
  t.match(await command({ ORDINATE_DATA: node.ORDINATE_DATA }, 'restore', target), {
    code: 1,
    stderr: /--data names a new or empty folder/,
  });
});

t.test(
  'an object that is lost is named, exit 1; all others are backed up, and earlier backups stay',
  { skip },
  async (t) => {
    const { node, bucket, target } = await makeScene(t);
    await json(node, 'backup', target);
    await load(t, node, { site_daily: facts('date device', ['2026-03-09', 'mobile', 5, 100, 900]) });
    const settings = readSettings({ ...ONE_THREAD, ...node });
    const newest = await (async () => {
      await using catalog = await openCatalog(settings);
      const rows = await catalog.statements.all<{ file: string }>('manifest_all');
      return rows.find(({ file }) => file.includes('/site_daily/Proj1/'))!.file;
    })();
    await bucket.remove(`some/prefix/${newest}`);
    rmSync(join(node.ORDINATE_DATA, 'cache'), { recursive: true, force: true });
    const { code, stdout } = await command(node, 'backup', target, '--keep', '1');
    t.equal(code, 1);
    t.match(stdout, `some/prefix/${newest}' is damaged: it is missing`);
    t.match(stdout, /2 kept/);
    t.match(await command({}, 'verify', target), { code: 1, stdout: new RegExp(`has no '${newest}' in the backup`) });
  },
);
