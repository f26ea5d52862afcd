// Events reach their receivers while background jobs run, once the sender that had them was killed too.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { announceAlert } from '../../server/catalog/deliveries.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { logOf, makeDataFolder, startServer, until } from '../process.ts';
import { localOnly } from '../stores.ts';
import { PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { alertOf } from './scene.ts';
import { verifies } from './verify.ts';

t.test('a sender that is killed within an attempt: another one sends the same again', localOnly, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] })]);
  const receiver = await startReceiver(t);
  const environment = {
    ORDINATE_DATA: dataFolder,
    ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'),
    ORDINATE_DELIVERY_LOOPBACK: 'on',
    ORDINATE_JOBS: 'on',
  };
  const words = ['--workspace', 'acme', '--kind', 'webhook', '--to', `${receiver.origin}/hidden-path`, '--json'];
  const { secret } = JSON.parse((await command(environment, 'channels', 'add', ...words)).stdout);
  const server = await startServer(t, environment);
  // The first one is not answered.
  receiver.answers = [() => {}, 204];
  await using catalog = await openCatalog(readSettings(environment));
  const project = await requireProject(catalog, 'Proj1');
  await catalog.transaction((tx) => announceAlert(tx, 'alert.opened', project, alertOf('a1')));
  await until('an attempt', () => receiver.received[0]);
  const worker = await until('the process of jobs', () => /"worker":(\d+)/.exec(server.printed.stderr)?.[1]);
  process.kill(Number(worker), 'SIGKILL');
  await until('another process of jobs', () =>
    [...server.printed.stderr.matchAll(/jobs are running/g)].length === 2 ? true : undefined,
  );
  const db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
  t.teardown(() => db.close());
  const row = () => db.prepare('select state, attempts, claimed_until from deliveries').get();
  t.match(row(), { state: 'pending', attempts: 0 });
  // As if its claim had passed.
  db.exec('update deliveries set claimed_until = 0 where claimed_until is not null');
  await until('the delivery', () => (row()?.['state'] === 'sent' ? true : undefined));
  const [first, second] = receiver.received;
  t.equal(first!.body, second!.body);
  t.equal(first!.headers['webhook-id'], second!.headers['webhook-id']);
  t.ok(verifies(second!, secret));
  const log = await logOf(server);
  for (const hidden of ['hidden-path', secret.slice(6)]) t.notOk(log.includes(hidden), `the log has no ${hidden}`);
});
