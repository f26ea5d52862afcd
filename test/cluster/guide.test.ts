// The guide to a cluster works as printed, from a data folder to a cluster and back.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { DEPLOYMENT_TOOLS } from '../deployment-tools.ts';
import { guideBlock, guideBlocks, triedBlocks } from '../docs/blocks.ts';
import { makeDataFolder } from '../process.ts';
import { ROOT } from '../readme.ts';
import { runScript } from '../shell.ts';
import { temporaryFolder, writeSnapshot } from '../world.ts';
import { newDatabase } from './databases.ts';
import { endpoint, ofDay, skip } from './nodes.ts';

t.test('the way to many machines', { skip }, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, ofDay(3))]);
  const folder = temporaryFolder(t);
  const { PATH, HOME, HELM, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
  const environment = {
    ...{ PATH, HOME, HELM, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY },
    ORDINATE_DATA: dataFolder,
    ORDINATE_STORAGE_ENDPOINT: endpoint,
    CLUSTER_CATALOG: await newDatabase(t),
    CLUSTER_STORAGE: `s3://ordinate/${randomUUID()}`,
    BACKUP: join(folder, 'backup'),
    EMPTY_CATALOG: await newDatabase(t),
    EMPTY_STORAGE: `s3://ordinate/${randomUUID()}`,
    FOLDER: join(folder, 'back'),
    ORDINATE_SECRETS_KEY_FILE: '/key',
    CATALOG_CA: '/ca.crt',
    CATALOG_PASSWORD: 'one',
    LIMITS_URL: 'redis://two',
  };
  const other = `${folder}/data`;
  // From a machine to many, to a backup, to stores that were empty, and back.
  for (const [block, ORDINATE_DATA, printed] of [
    ['copy-catalog', dataFolder, /Copied/],
    ['copy-storage', dataFolder, /has all 1 files .* 1 were copied/],
    ['serve', other, /All is in order[\s\S]*Proj1/],
    ['backup', other, /Backed up 1 files[\s\S]*All is in order/],
    ['restore', `${folder}/restored`, /Restored 1 projects[\s\S]*All is in order/],
    ['go-back', other, /Copied the catalog[\s\S]*has all 1 files .* 1 were copied/],
  ] as const) {
    t.match(await runScript(guideBlock('cluster', block), folder, { ...environment, ORDINATE_DATA }), printed, block);
  }
  const back = { ORDINATE_DATA: environment.FOLDER };
  t.match(await command(back, 'verify'), { code: 0, stdout: /All is in order: 1 file/ });
  // What runs Ordinate runs it here; the others are printed.
  const tools = `kubectl() { echo "kubectl $*"; }; helm() { shift; ${HELM ?? 'echo'} template "$@" --kube-version 1.31.0; }`;
  const kubernetes = await runScript(`${tools}\n${guideBlock('cluster', 'helm')}`, ROOT, environment);
  for (const name of ['ordinate-secrets-key', 'ordinate-catalog', 'ordinate-limits'])
    t.match(kubernetes, new RegExp(`kubectl create secret generic ${name} `));
  t.match(kubernetes, HELM === undefined ? 'template ordinate' : /kind: PodDisruptionBudget/);
  const compose = guideBlock('cluster', 'compose')
    .replace('/backup', join(folder, 'of-compose'))
    .replaceAll('--file compose.cluster.yaml ', '');
  const containers = await runScript(`${DEPLOYMENT_TOOLS}${compose}`, folder, back);
  t.match(containers, /docker compose up[\s\S]*acme[\s\S]*Backed up/);
  const untried = guideBlocks().filter(({ page, name }) => page === 'cluster' && !triedBlocks.has(`cluster ${name}`));
  t.strictSame(
    untried.map(({ language }) => language),
    ['text'],
    'all but the picture',
  );
});
