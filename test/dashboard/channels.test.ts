// Owners and admins choose in the browser where a workspace is told of what happens; nobody else sees or changes it.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startReceiver } from '../fakes/receiver.ts';
import { temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

async function scene(t: Test) {
  const receiver = await startReceiver(t);
  const environment = {
    ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'),
    ORDINATE_DELIVERY_LOOPBACK: 'on',
    ORDINATE_SMTP_URL: 'smtp://127.0.0.1:1',
    ORDINATE_MAIL_FROM: 'reports@acme.example',
  };
  return { receiver, ...(await makeTeam(t, {}, environment)) };
}

t.test('a channel: added, changed, tested, rotated, removed, each audited', async (t) => {
  const { send, receiver, catalog } = await scene(t);
  const wanted = { kind: 'webhook', to: `${receiver.origin}/hidden`, minSeverity: 'warning', project: 'Proj1' };
  const added = await send('admin', 'POST', '/channels', wanted);
  t.match(added, {
    status: 201,
    body: {
      channel: { kind: 'webhook', to: `${receiver.origin}/…`, name: '127.0.0.1', project: 'Proj1', state: 'on' },
      secret: /^whsec_/,
    },
  });
  const path = `/channels/${added.body.channel.id}`;
  t.strictSame((await send('owner', 'GET', '/channels')).body, {
    channels: [{ ...added.body.channel, version: added.body.version }],
  });
  const changed = await send('owner', 'PATCH', path, { name: 'Pager', events: ['sync.failed'], minSeverity: null });
  t.match(changed, { status: 200, body: { channel: { name: 'Pager', events: ['sync.failed'], minSeverity: null } } });
  t.match(await send('owner', 'POST', `${path}/test`), {
    status: 200,
    body: { delivery: { state: 'sent', status: 204, event: 'channel.test' } },
  });
  t.match(await send('owner', 'POST', `${path}/rotate`), { status: 200, body: { secret: /^whsec_/ } });
  t.match(await send('owner', 'POST', `${path}/rotate`, { overlapHours: 0 }), { body: { secret: /^whsec_/ } });
  t.match(await send('owner', 'GET', `${path}/deliveries`), { body: { deliveries: [{ attempts: 1 }] } });
  t.match(await send('owner', 'PATCH', path, { enabled: false }), { body: { channel: { state: 'disabled' } } });
  t.equal((await send('admin', 'DELETE', path)).status, 204);
  t.equal((await send('admin', 'DELETE', path)).status, 404);
  const audit = await catalog.statements.all<{ action: string; actor: string; details: string }>('audit_list', {
    ...{ workspace: 'acme', action: null, since: 0, limit: 100 },
  });
  const own = audit.filter(({ action }) => action.startsWith('channel.'));
  t.strictSame(
    own.map(({ action }) => action.slice('channel.'.length)),
    ['removed', 'changed', 'rotated', 'rotated', 'tested', 'changed', 'created'],
  );
  t.match(own[0], { actor: 'admin@acme.example' });
  t.notMatch(JSON.stringify(own), /hidden|whsec/);
});

t.test('a receiver gets ten tests a minute, from whichever channels', async (t) => {
  const { send, receiver, clock } = await scene(t);
  const add = async (who: 'owner' | 'other', to: string): Promise<string> =>
    `/channels/${(await send(who, 'POST', '/channels', { kind: 'webhook', to })).body.channel.id}/test`;
  const paths = [await add('owner', `${receiver.origin}/a`), await add('owner', `${receiver.origin}/b`)];
  for (let count = 0; count < 10; count += 1) {
    t.equal((await send('owner', 'POST', paths[count % 2]!)).status, 200);
  }
  const refused = await send('owner', 'POST', paths[0]!);
  t.match(refused, { status: 429, code: 'rate_limited', headers: { 'retry-after': '60' } });
  t.equal(refused.message, `Too many tests to ${receiver.origin}/…. Try again in 60 s.`);
  t.equal((await send('other', 'POST', await add('other', `${receiver.origin}/c`))).status, 429, 'another workspace');
  t.equal(receiver.received.length, 10);
  const elsewhere = await startReceiver(t);
  t.equal((await send('owner', 'POST', await add('owner', `${elsewhere.origin}/a`))).status, 200, 'another receiver');
  clock.at += 60_000;
  t.equal((await send('owner', 'POST', paths[0]!)).status, 200);
});

t.test('others do not see channels, and those of another workspace do not exist', async (t) => {
  const { send, receiver } = await scene(t);
  const wanted = { kind: 'slack', to: `${receiver.origin}/x` };
  const { body } = await send('owner', 'POST', '/channels', wanted);
  const path = `/channels/${body.channel.id}`;
  for (const [method, url] of [
    ...(['GET', 'POST'] as const).map((one) => [one, '/channels'] as const),
    ...(['PATCH', 'DELETE'] as const).map((one) => [one, path] as const),
    ...['test', 'rotate'].map((one) => ['POST', `${path}/${one}`] as const),
    ['GET', `${path}/deliveries`] as const,
  ]) {
    t.equal((await send('stranger', method, url)).status, 401, `${method} ${url}`);
    for (const who of ['member', 'key'] as const) t.equal((await send(who, method, url)).status, 403, `${who} ${url}`);
    if (url !== '/channels') t.equal((await send('other', method, url)).status, 404, `other ${method} ${url}`);
  }
  t.match(await send('other', 'GET', '/channels'), { body: { channels: [] } });
});

t.test('wrong fields are named', async (t) => {
  const { send, receiver } = await scene(t);
  const wanted = { kind: 'slack', to: `${receiver.origin}/x` };
  for (const [field, body] of [
    ['to', { ...wanted, to: 'https://10.0.0.1/' }],
    ['to', { ...wanted, kind: 'email' }],
    ['kind', { ...wanted, kind: 'fax' }],
    ['events', { ...wanted, events: ['all'] }],
    ['events', { ...wanted, events: [] }],
    ['types', { ...wanted, types: ['all'] }],
    ['minSeverity', { ...wanted, minSeverity: 'bad' }],
    ['name', { ...wanted, name: '' }],
    ['project', { ...wanted, project: 'Other' }],
    ['colour', { ...wanted, colour: 'red' }],
  ] as const) {
    const refused = await send('owner', 'POST', '/channels', body);
    t.match(
      { ...refused, field },
      { status: 400, code: 'invalid_request', message: new RegExp(`\\b${field}\\b`) },
      field,
    );
  }
  const { body } = await send('owner', 'POST', '/channels', wanted);
  t.match(await send('owner', 'POST', `/channels/${body.channel.id}/rotate`, {}), { status: 409, code: 'conflict' });
  t.match(await send('owner', 'PATCH', `/channels/${body.channel.id}`, { to: 'x' }), { status: 400, message: /'to'/ });
});
