// What happens is sent at least once, with one id and the same bytes, until the receiver has it or days have passed.
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { disableChannel } from '../../server/catalog/channels.ts';
import { listDeliveries } from '../../server/catalog/deliveries.ts';
import { alertOf, makeScene } from './scene.ts';
import { verifies } from './verify.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

t.test('an alert: one delivery for each channel that wants it, the same bytes and id at each attempt', async (t) => {
  const { add, announce, send, receiver, clock, json } = await makeScene(t);
  await announce('alert.opened', [alertOf('before')]);
  const { channel, secret } = await add('webhook', '/all');
  await add('webhook', '/critical', '--min-severity', 'critical');
  await add('webhook', '/rules', '--type', 'rule');
  await add('webhook', '/sync', '--event', 'sync.failed');
  await add('webhook', '/other', '--project', 'Proj2');
  await announce('alert.opened', [alertOf('a1')]);
  await announce('alert.opened', [alertOf('a1')]);
  receiver.answers = [500, 204];
  t.strictSame(await send(), { sent: 0, failed: 0 });
  clock.at += 5000;
  t.strictSame(await send(), { sent: 1, failed: 0 });
  const [first, second, ...more] = receiver.received;
  t.strictSame(more, [], 'once for the channel, and nothing of the past');
  t.equal(first!.path, '/all');
  t.equal(first!.body, second!.body);
  t.equal(first!.headers['webhook-id'], second!.headers['webhook-id']);
  t.equal(Number(second!.headers['webhook-timestamp']) - Number(first!.headers['webhook-timestamp']), 5);
  for (const request of [first!, second!]) t.ok(verifies(request, secret));
  t.strictSame(JSON.parse(first!.body), {
    type: 'alert.opened',
    timestamp: '2026-03-15T12:00:00.000Z',
    data: {
      workspace: { id: 'acme', name: 'Acme' },
      project: { id: 'Proj1', domain: 'shop.example' },
      alert: {
        ...{ id: 'a1', type: 'traffic_drop', kind: 'Traffic drop', severity: 'warning', title: 'Clicks fell' },
        ...{ body: 'By half.', date: '2026-03-14', keywordId: null },
        url: 'https://reports.example.com/app/p/Proj1/alerts?status=all&alert=a1',
        ...{ createdAt: '2026-03-15T12:00:00.000Z', resolvedAt: null },
      },
      link: 'https://reports.example.com/app/p/Proj1/alerts?status=all&alert=a1',
    },
  });
  t.match(await json('channels', 'deliveries', channel.id), [
    { id: first!.headers['webhook-id'], event: 'alert.opened', subject: 'a1', state: 'sent', attempts: 2, status: 204 },
  ]);
});

t.test('which alerts a channel hears of: by the least severity, type and project', async (t) => {
  const { add, announce, send, receiver } = await makeScene(t);
  for (const severity of ['info', 'warning', 'critical'])
    await add('webhook', `/${severity}`, '--min-severity', severity);
  await add('webhook', '/any');
  await add('webhook', '/rules', '--type', 'rule', '--min-severity', 'warning');
  await add('webhook', '/Proj2', '--project', 'Proj2');
  const severities = ['warning', 'critical', 'info'] as const;
  const alerts = severities.map((severity) => alertOf(severity, { severity }));
  await announce('alert.opened', [...alerts, alertOf('rule', { type: 'rule' })]);
  await announce('alert.opened', [alertOf('other', { severity: 'info' })], 'Proj2');
  for (let sent = 1; sent > 0; ) sent = (await send()).sent;
  const heard = Map.groupBy(receiver.received, ({ path }) => path);
  const idOf = ({ body }: { body: string }): string =>
    (JSON.parse(body) as { data: { alert: { id: string } } }).data.alert.id;
  t.strictSame(Object.fromEntries([...heard].map(([path, all]) => [path, all.map(idOf).sort().join(' ')])), {
    '/any': 'critical info other rule warning',
    '/info': 'critical info other rule warning',
    '/warning': 'critical rule warning',
    '/critical': 'critical',
    '/rules': 'rule',
    '/Proj2': 'other',
  });
});

t.test('pauses grow by the setting; a receiver that was away for 36 hours loses nothing', async (t) => {
  // As they are, and as short as they can be; the last one is never shorter.
  for (const [random, pauses] of [
    [0.5, [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR]],
    [0, [4000, 4 * MINUTE, 24 * MINUTE, 1.6 * HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR]],
  ] as const) {
    const { add, announce, send, receiver, clock, world } = await makeScene(t);
    const { channel } = await add('webhook', '/');
    await announce('alert.opened', [alertOf('a1')]);
    receiver.answers = [503];
    const began = clock.at;
    const found: number[] = [];
    for (let attempt = 1; attempt <= 7; attempt++) {
      await send({ random });
      const next = (await listDeliveries(world.catalog, channel.id, 1))[0]!.nextAt! / 1000;
      found.push(next - clock.at);
      clock.at = next - 1;
      await send({ random });
      t.equal(receiver.received.length, attempt, 'not before');
      clock.at = next;
    }
    t.strictSame(found, pauses);
    t.ok(clock.at - began > 36 * HOUR, 'the last attempt comes after it');
    receiver.answers = [200];
    t.strictSame(await send(), { sent: 1, failed: 0 });
  }
});

t.test('after the last attempt it has failed; pauses vary by a fifth', async (t) => {
  const { add, announce, send, receiver, clock, json } = await makeScene(t, { ORDINATE_DELIVERY_RETRIES: '10s,10s' });
  await add('webhook', '/');
  await announce('alert.opened', [alertOf('a1')]);
  receiver.answers = [(response) => response.writeHead(302, { location: `${receiver.origin}/secret` }).end('moved')];
  await send({ random: 0 });
  t.match(await json('channels', 'deliveries'), [{ state: 'pending', status: 302, answer: 'moved' }]);
  clock.at += 8000;
  await send({ random: 0 });
  clock.at += 10_000;
  t.strictSame(await send(), { sent: 0, failed: 1 });
  t.match(await json('channels', 'deliveries'), [{ state: 'failed', attempts: 3, nextAt: null, sentAt: null }]);
  t.strictSame(
    receiver.received.map(({ path }) => path),
    ['/', '/', '/'],
    'no redirect is followed',
  );
  clock.at += 30 * 24 * HOUR + 1000;
  await send();
  t.strictSame(await json('channels', 'deliveries'), [], 'forgotten after 30 days');
});

t.test('410 disables the channel and cancels what waits; enabled again, it hears of what comes then', async (t) => {
  const { rows, add, announce, send, receiver, json, cli, world } = await makeScene(t);
  const { channel } = await add('webhook', '/');
  const six = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((id) => alertOf(id));
  await announce('alert.opened', six);
  receiver.answers = [410];
  await send();
  const states = (await rows('channels', 'deliveries')).map(({ state }) => state);
  t.equal(receiver.received.length, 4, 'no more than four at a time, and none after');
  t.notOk(states.includes('pending'));
  t.ok(states.includes('cancelled'));
  t.match(await json('channels', 'list'), [{ state: 'disabled' }]);
  await announce('alert.opened', [alertOf('a7')]);
  const disabled = (await rows('audit', 'list')).filter(({ action }) => action === 'channel.disabled');
  t.match(disabled, [{ subject: channel.id, details: { reason: 'gone' } }]);
  t.match(await cli('channels', 'enable', channel.id), { code: 0 });
  await announce('alert.opened', [alertOf('a8')]);
  receiver.answers = [200];
  t.strictSame(await send(), { sent: 1, failed: 0 });
  t.match(JSON.parse(receiver.received.at(-1)!.body), { data: { alert: { id: 'a8' } } });
  // Disabled while an attempt runs, which fails then.
  const disable = () => disableChannel(world.catalog, channel.id, 'gone', { by: 'ada@acme.example', at: 0 });
  receiver.answers = [(response) => void disable().then(() => response.writeHead(503).end())];
  await announce('alert.opened', [alertOf('a9')]);
  await send();
  const last = (await rows('channels', 'deliveries')).find(({ subject }) => subject === 'a9');
  t.match(last, { state: 'cancelled', status: 503, nextAt: null });
});

t.test('a receiver that hangs delays no other channel, and has four attempts at a time', async (t) => {
  const { add, announce, send, receiver, world } = await makeScene(t, { ORDINATE_DELIVERY_SECONDS: '60' });
  const { channel: slow } = await add('webhook', '/slow');
  const five = ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => alertOf(id));
  await announce('alert.opened', five);
  const held: ServerResponse[] = [];
  const stopped = new AbortController();
  const reached = Promise.withResolvers<void>();
  const other = Promise.withResolvers<void>();
  receiver.answers = [
    (response) => {
      const { path } = receiver.received.at(-1)!;
      if (path === '/slow') {
        held.push(response);
        if (held.length === 4) reached.resolve();
      } else {
        response.writeHead(200).end();
        other.resolve();
      }
    },
  ];
  const sending = send({ signal: stopped.signal });
  await reached.promise;
  await add('webhook', '/fast');
  await announce('alert.opened', [alertOf('b1')]);
  await other.promise;
  t.equal(held.length, 4);
  stopped.abort();
  await t.rejects(sending);
  const states = (await listDeliveries(world.catalog, slow.id, 10)).map(({ attempts, state }) => [attempts, state]);
  t.strictSame(states, Array(6).fill([0, 'pending']), 'what was stopped has not been an attempt');
  const ofAll = (await listDeliveries(world.catalog, null, 20)).map(({ channel }) => channel === slow.id);
  t.strictSame([ofAll.length, ofAll.filter(Boolean).length], [7, 6], 'those of all channels');
});

t.test('a sender that was killed holds its deliveries for less than 30 seconds', async (t) => {
  const { add, announce, send, receiver, clock, world } = await makeScene(t);
  await add('webhook', '/');
  await announce('alert.opened', [alertOf('a1')]);
  const { claimDeliveries } = await import('../../server/catalog/deliveries.ts');
  t.equal((await claimDeliveries(world.catalog, clock.at * 1000, (body) => body)).length, 1);
  clock.at += 20_000;
  await send();
  t.equal(receiver.received.length, 0, 'another one has it');
  clock.at += 9000;
  t.strictSame(await send(), { sent: 1, failed: 0 });
});

t.test('an address is checked again at each attempt, and nothing is connected to where it is refused', async (t) => {
  const { cli, json, announce, send } = await makeScene(t, { ORDINATE_DELIVERY_LOOPBACK: 'off' });
  const words = ['channels', 'add', '--workspace', 'acme', '--kind', 'slack', '--to'];
  t.match(await cli(...words, 'https://hooks.invalid/x'), { code: 0 });
  await announce('alert.opened', [alertOf('a1')]);
  const resolve = async () => [
    { address: '8.8.8.8', family: 4 },
    { address: '169.254.169.254', family: 4 },
  ];
  await send({ resolve });
  t.match(await json('channels', 'deliveries'), [
    {
      state: 'pending',
      attempts: 1,
      status: null,
      answer: /^address refused: it must not lead to '169\.254\.169\.254'/,
    },
  ]);
});

t.test('an answer that is endless, slow or cut off counts by its status', async (t) => {
  const { rows, add, announce, send, receiver } = await makeScene(t, { ORDINATE_DELIVERY_SECONDS: '1' });
  await add('webhook', '/');
  await announce('alert.opened', [alertOf('a1'), alertOf('a2'), alertOf('a3')]);
  receiver.answers = [
    // The rest does not come in time.
    (response) => void response.writeHead(202, { 'content-length': '100' }).write('slow'),
    (response) => {
      response.writeHead(200);
      const more = (): void => void (response.destroyed || response.write('ä'.repeat(5000), () => setImmediate(more)));
      more();
    },
    (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('begin', () => response.destroy());
    },
  ];
  t.strictSame(await send(), { sent: 3, failed: 0 });
  const answers = (await rows('channels', 'deliveries')).map(({ answer }) => answer);
  t.ok(answers.includes('slow'));
  t.ok(answers.includes('begin'));
  t.ok(answers.includes('ä'.repeat(100)), 'the first 200 bytes');
});
