// What goes wrong between sending and noting it costs nothing but a second delivery, with the id of the first.
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { perform } from '../../cli/operations.ts';
import { announceAlert, listDeliveries } from '../../server/catalog/deliveries.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { sendDue } from '../../server/channels/send.ts';
import { channelCreation } from '../../server/operations/channels.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { headersOf, startMailServer } from '../fakes/smtp.ts';
import { makeDataFolder } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { localOnly } from '../stores.ts';
import { PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { alertOf, makeScene } from './scene.ts';

t.test('a mail server that hangs after the text: tried again, with the same Message-ID', async (t) => {
  const texts: string[] = [];
  let hangs = true;
  const server = await startMailServer(t, {
    onData: (stream, _session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        texts.push(Buffer.concat(parts).toString('latin1'));
        if (!hangs) done();
      });
    },
  });
  const { json, announce, send, rows, clock } = await makeScene(t, {
    ORDINATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    ORDINATE_MAIL_FROM: 'reports@example.com',
    ORDINATE_DELIVERY_SECONDS: '1',
  });
  await json('channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'team@acme.example');
  await announce('alert.opened', [alertOf('a1')]);
  t.strictSame(await send(), { sent: 0, failed: 0 });
  t.match(await rows('channels', 'deliveries'), [{ state: 'pending', attempts: 1, answer: /no answer/ }]);
  hangs = false;
  clock.at += 6000;
  t.strictSame(await send(), { sent: 1, failed: 0 });
  const [first, second] = texts.map((text) => headersOf(text).get('message-id'));
  t.ok(first);
  t.equal(first, second);
});

t.test('a full disk: nothing is lost, and it goes on by itself when there is room', localOnly, async (t) => {
  const place = join(temporaryFolder(t), 'disk');
  const disk = smallDisk(t, place, 64);
  if (disk === undefined) {
    t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
    return;
  }
  const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  const { dataFolder } = await makeDataFolder(t, [snapshot], { folder: join(place, 'data') });
  const receiver = await startReceiver(t);
  const settings = readSettings({
    ORDINATE_DATA: dataFolder,
    ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'),
    ORDINATE_DELIVERY_LOOPBACK: 'on',
  });
  await using catalog = await openCatalog(settings);
  const clock = { at: Date.now() };
  const writer = { by: 'test', at: clock.at * 1000 };
  const input = { kind: 'webhook', to: receiver.origin };
  const { channel } = await perform({ settings, catalog }, channelCreation, {
    workspace: 'acme',
    input,
    at: writer.at,
  });
  const project = await requireProject(catalog, 'Proj1');
  await catalog.transaction((tx) => announceAlert(tx, 'alert.opened', project, alertOf('a1')));
  const errors: unknown[] = [];
  const send = () =>
    sendDue(catalog, {
      ...{ settings, now: () => clock.at, signal: new AbortController().signal, random: () => 0.5 },
      sleep: () => new Promise((done) => setTimeout(done, 5)),
      onError: (error) => errors.push(error),
    });
  // Accepted while the disk fills: the note of it fails.
  receiver.answers = [
    (response) => {
      disk.fill();
      response.writeHead(204).end();
    },
    204,
  ];
  await send();
  t.equal(errors.length, 1, 'said in the log');
  t.match(await listDeliveries(catalog, channel.id, 9), [{ state: 'pending', attempts: 0 }]);
  clock.at += 30_000;
  await send().catch((error: unknown) => errors.push(error));
  t.equal(receiver.received.length, 1, 'nothing is claimed on a full disk');
  disk.clear();
  clock.at += 30_000;
  t.strictSame(await send(), { sent: 1, failed: 0 });
  const [first, second] = receiver.received;
  t.equal(first!.headers['webhook-id'], second!.headers['webhook-id']);
  t.equal(first!.body, second!.body);
});

const DAY = 86_400_000;

t.test('the clock jumps by a day while an attempt runs: nothing is sent twice at a time', async (t) => {
  for (const jump of [DAY, -DAY]) {
    const { add, announce, send, receiver, clock } = await makeScene(t, { ORDINATE_DELIVERY_SECONDS: '60' });
    await add('webhook', '/slow');
    await announce('alert.opened', [alertOf('a1')]);
    const held: ServerResponse[] = [];
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const { promise: other, resolve: resolveOther } = Promise.withResolvers<void>();
    receiver.answers = [
      (response) => {
        if (receiver.received.at(-1)!.path === '/slow') {
          held.push(response);
          resolve();
        } else {
          response.writeHead(204).end();
          resolveOther();
        }
      },
    ];
    const sending = send();
    await reached;
    clock.at += jump;
    // It looks for what is due again: this one is found.
    await add('webhook', '/other');
    await announce('alert.opened', [alertOf('b1', { createdAt: clock.at * 1000 })]);
    await other;
    for (const response of held.splice(0)) response.writeHead(204).end();
    receiver.answers = [204];
    await sending;
    const ids = receiver.received.filter(({ path }) => path === '/slow').map(({ headers }) => headers['webhook-id']);
    t.equal(ids.length, 2, `by ${jump}`);
    t.equal(new Set(ids).size, 2);
  }
});

t.test('a clock that was a day ahead: what was written and tried meanwhile waits no day', async (t) => {
  const { add, announce, send, receiver, clock, rows } = await makeScene(t);
  await add('webhook', '/');
  clock.at += DAY;
  receiver.answers = [503];
  await announce('alert.opened', [alertOf('tried', { createdAt: clock.at * 1000 })]);
  await send();
  t.match(await rows('channels', 'deliveries'), [{ attempts: 1, state: 'pending' }]);
  await announce('alert.opened', [alertOf('new', { createdAt: clock.at * 1000 })]);
  clock.at -= DAY;
  receiver.answers = [204];
  t.strictSame(await send(), { sent: 2, failed: 0 });
  receiver.answers = [503];
  await announce('alert.opened', [alertOf('later', { createdAt: clock.at * 1000 })]);
  await send();
  t.strictSame(await send(), { sent: 0, failed: 0 }, 'the pauses of others stay');
  t.equal(receiver.received.length, 4);
});
