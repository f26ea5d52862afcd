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
import { ONE_THREAD, temporaryFolder } from '../world.ts';
import { newDatabase } from './databases.ts';
import { endpoint, filled, json, load, makeCluster, namedKeys, ofDay, skip } from './nodes.ts';
import { Bucket } from './servers/object-store.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
const ASKED = ['site?', 'keywords?', 'pages?', 'breakdowns?', 'keywords?daily=1&'].map(
  (what) => `/projects/Proj1/${what}${RANGE}`,
);
const IN_ORDER = { code: 0, stdout: /All is in order/ };

/** What a new server of some stores answers, but when lists were fetched: they are not part of a backup. */
async function answers(t: Test, environment: NodeJS.ProcessEnv, key: string): Promise<string[]> {
  const server = await startServer(t, environment);
  const all = await Promise.all(ASKED.map((path) => server.get(path, key)));
  server.child.kill('SIGKILL');
  await server.ended;
  return all.map(({ status, body }) => `${status} ${JSON.stringify(body).replaceAll(/"fetchedAt":"[^"]*"/g, '')}`);
}

/** A cluster with a key, and the stores of another one, which are empty. */
async function makeScene(t: Test) {
  const cluster = await makeCluster(t);
  const node = cluster.node();
  const key = await filled(t, node, EVERYTHING);
  const bucket = await Bucket.create(t, endpoint);
  const other = { ...bucket.settings(endpoint, 'other/prefix'), ORDINATE_CATALOG: await newDatabase(t) };
  return { ...cluster, node, key, empty: cluster.node(other), target: join(temporaryFolder(t), 'backup') };
}

t.test('a drill: all stores are lost, and come back from a backup that was made beside a load', { skip }, async (t) => {
  const { node, key, empty, target } = await makeScene(t);
  const before = await answers(t, node, key);
  for (const answer of before) t.match(answer, /^200 /);
  const settings = readSettings({ ...ONE_THREAD, ...node });
  {
    await using catalog = await openCatalog(settings);
    let loading: Promise<unknown> | undefined;
    const report = (step: string): void => {
      // The catalog is copied by then.
      if (step.startsWith('comparing and copying')) loading ??= load(t, node, ofDay(999));
    };
    const made = await backup({ settings, catalog }, { target, keep: 7, report });
    t.match(await loading, { code: 0 });
    t.match(made, { files: made.copied, linked: 0, kept: 1, warnings: [] });
  }
  t.notSame(await answers(t, node, key), before, 'the load has changed answers');
  t.match(await command({}, 'verify', target), IN_ORDER);
  t.match(await json(empty, 'restore', target), { present: 0, projects: 2 });
  t.match(await command(empty, 'verify', '--deep'), IN_ORDER);
  t.strictSame(await answers(t, empty, key), before, 'the state that the catalog had');
  const folder = { ORDINATE_DATA: join(temporaryFolder(t), 'one-machine') };
  await json(empty, 'restore', target, '--data', folder.ORDINATE_DATA);
  t.match(await command(folder, 'verify'), IN_ORDER);
  t.strictSame(await answers(t, folder, key), before, 'on one machine');
  t.match(await json(node, 'backup', target), { copied: 1 }, 'only what the load wrote');
  t.match(await json(node, 'backup', 'list', target), [{}, {}]);
});

t.test('a damaged backup restores nothing, and the restore goes on when it is whole', { skip }, async (t) => {
  const { node, key, empty, target } = await makeScene(t);
  await json(node, 'backup', target);
  const [index] = await json<{ id: string }[]>(node, 'backup', 'list', target);
  const lines = readFileSync(join(target, 'indexes', `${index!.id}.ndjson`), 'utf8')
    .trim()
    .split('\n');
  const path = join(target, (JSON.parse(lines.at(-2)!) as { file: string }).file);
  const intact = readFileSync(path);
  const flipped = Buffer.from(intact);
  flipped[flipped.length >> 1]! ^= 1;
  writeFileSync(path, flipped);
  const refused = (why: RegExp) => ({ code: 1, stderr: why });
  t.match(await command(empty, 'restore', target), refused(/Nothing was restored.*is damaged: its SHA-256/));
  t.match(await command(empty, 'projects', 'list'), refused(/There is no catalog/));
  rmSync(path);
  t.match(await command(empty, 'restore', target), refused(/is damaged: it is missing/));
  writeFileSync(path, intact);
  const { present, files } = await json<{ present: number; files: number }>(empty, 'restore', target);
  t.ok(present > 0 && present < files, 'files that were there are not copied again');
  t.strictSame(await answers(t, empty, key), await answers(t, node, key));
  const never = refused(/There is a catalog in .* already; nothing was restored/);
  t.match(await command(empty, 'restore', target), never, 'never over another catalog');
  const { ORDINATE_DATA } = node;
  t.match(await command({ ORDINATE_DATA }, 'restore', target), refused(/--data names a new or empty folder/));
});

t.test('an object that is lost is named, exit 1; others are backed up, earlier backups stay', { skip }, async (t) => {
  const { node, bucket, target, catalogUrl } = await makeScene(t);
  await json(node, 'backup', target);
  await using catalog = await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl });
  const before = await namedKeys(catalog);
  t.match(await load(t, node, ofDay(5)), { code: 0 });
  const newest = (await namedKeys(catalog)).find((key) => !before.includes(key))!;
  await bucket.remove(newest);
  rmSync(join(node.ORDINATE_DATA, 'cache'), { recursive: true, force: true });
  const { code, stdout } = await command(node, 'backup', target, '--keep', '1');
  t.equal(code, 1);
  t.match(stdout, `${newest}' is damaged: it is missing`);
  t.match(stdout, /2 kept/);
  const lost = new RegExp(`has no '${newest.replace('some/prefix/', '')}' in the backup`);
  t.match(await command({}, 'verify', target), { code: 1, stdout: lost });
});
