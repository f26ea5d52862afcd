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
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, skip } from './databases.ts';

const { ORDINATE_TEST_S3 } = process.env;

t.test(
  'the way to many machines',
  { skip: skip || (ORDINATE_TEST_S3 ? false : 'ORDINATE_TEST_S3 names no S3 server') },
  async (t) => {
    const days = facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]);
    const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], site_daily: days });
    const { dataFolder } = await makeDataFolder(t, [snapshot]);
    const { PATH, HOME, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
    const environment = {
      PATH,
      HOME,
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      ORDINATE_DATA: dataFolder,
      ORDINATE_STORAGE_ENDPOINT: ORDINATE_TEST_S3,
      CLUSTER_CATALOG: await newDatabase(t),
      CLUSTER_STORAGE: `s3://ordinate/${randomUUID()}`,
    };
    const folder = temporaryFolder(t);
    t.match(await runScript(guideBlock('cluster', 'copy-catalog'), folder, environment), /Copied/);
    t.match(
      await runScript(guideBlock('cluster', 'copy-storage'), folder, environment),
      /has all 1 files .* 1 were copied/,
    );
    // Another machine.
    const other = { ...environment, ORDINATE_DATA: `${folder}/data` };
    t.match(await runScript(guideBlock('cluster', 'serve'), folder, other), /All is in order[\s\S]*Proj1/);
    const drill = {
      ...other,
      BACKUP: join(folder, 'backup'),
      EMPTY_CATALOG: await newDatabase(t),
      EMPTY_STORAGE: `s3://ordinate/${randomUUID()}`,
    };
    t.match(await runScript(guideBlock('cluster', 'backup'), folder, drill), /Backed up 1 files[\s\S]*All is in order/);
    const restored = { ...drill, ORDINATE_DATA: `${folder}/restored` };
    t.match(
      await runScript(guideBlock('cluster', 'restore'), folder, restored),
      /Restored 1 projects[\s\S]*All is in order/,
    );
    const back = { ...other, FOLDER: join(folder, 'back') };
    t.match(
      await runScript(guideBlock('cluster', 'go-back'), folder, back),
      /Copied the catalog[\s\S]*has all 1 files .* 1 were copied/,
    );
    t.match(await command({ ORDINATE_DATA: back.FOLDER }, 'verify'), { code: 0, stdout: /All is in order: 1 file/ });
    // What runs Ordinate runs it here; the others are printed.
    const tools = `kubectl() { echo "kubectl $*"; }; helm() { shift; ${process.env['HELM'] ?? 'echo'} template "$@" --kube-version 1.31.0; }`;
    const cluster = {
      ...environment,
      HELM: process.env['HELM'],
      ORDINATE_SECRETS_KEY_FILE: '/key',
      CATALOG_CA: '/ca.crt',
    };
    const secrets = { CATALOG_PASSWORD: 'one', LIMITS_URL: 'redis://two' };
    const kubernetes = await runScript(`${tools}\n${guideBlock('cluster', 'helm')}`, ROOT, { ...cluster, ...secrets });
    for (const name of ['ordinate-secrets-key', 'ordinate-catalog', 'ordinate-limits'])
      t.match(kubernetes, new RegExp(`kubectl create secret generic ${name} `));
    t.match(kubernetes, process.env['HELM'] === undefined ? 'template ordinate' : /kind: PodDisruptionBudget/);
    const backup = guideBlock('cluster', 'compose').replace('/backup', join(folder, 'of-compose'));
    const containers = await runScript(
      `${DEPLOYMENT_TOOLS}${backup.replaceAll('--file compose.cluster.yaml ', '')}`,
      folder,
      {
        ORDINATE_DATA: back.FOLDER,
      },
    );
    t.match(containers, /docker compose up[\s\S]*acme[\s\S]*Backed up/);
    const untried = guideBlocks().filter(({ page, name }) => page === 'cluster' && !triedBlocks.has(`cluster ${name}`));
    t.strictSame(
      untried.map(({ language }) => language),
      ['text'],
      'all but the picture',
    );
  },
);
