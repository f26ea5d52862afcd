// Channels are added, tested, rotated and removed by command; their secrets are shown once and stored encrypted only.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROJECT, temporaryFolder, WORKSPACE } from '../world.ts';
import { makeScene } from './scene.ts';
import { verifies } from './verify.ts';

const DEFAULTS = ['alert.opened', 'alert.resolved', 'sync.failed', 'sync.recovered'];

t.test('a webhook: added with its secret, tested, rotated, removed', async (t) => {
  const { rows, add, json, cli, receiver } = await makeScene(t);
  const { channel, secret } = await add('webhook', '/hook?key=hidden-in-address', '--name', 'Pager');
  t.strictSame(channel, {
    ...{ id: channel.id, kind: 'webhook', to: `${receiver.origin}/…`, name: 'Pager', project: null },
    ...{ events: DEFAULTS, types: null, minSeverity: null, state: 'on', createdAt: channel.createdAt },
  });
  t.equal(Buffer.from(secret.replace('whsec_', ''), 'base64').length, 32);
  t.strictSame(await json('channels', 'list', '--workspace', 'acme'), [channel]);

  const { delivery } = await json('channels', 'test', channel.id);
  t.match(delivery, {
    channel: channel.id,
    event: 'channel.test',
    state: 'sent',
    attempts: 1,
    status: 204,
    nextAt: null,
  });
  const [tested] = receiver.received;
  t.match(tested, { path: '/hook?key=hidden-in-address', headers: { 'webhook-id': delivery.id } });
  t.match(JSON.parse(tested!.body), {
    type: 'channel.test',
    data: {
      workspace: { id: 'acme', name: 'Acme' },
      channel: { id: channel.id, name: 'Pager' },
      link: 'https://reports.example.com/app',
    },
  });
  t.match(tested!.headers['webhook-signature'], /^v1,\S+$/);

  const { secret: second, oldSecretValidUntil } = await json('channels', 'rotate', channel.id, '--overlap', '2h');
  t.not(second, secret);
  const until = Date.parse(oldSecretValidUntil) - Date.now();
  t.ok(until > 7_100_000 && until <= 7_200_000, `${until} ms`);
  receiver.answers = [(response) => response.writeHead(500).end('out of \u0007order /hook?key=hidden-in-address')];
  const refused = await cli('channels', 'test', channel.id);
  t.match(refused, { code: 1, stderr: /not accepted: 500 out of order …/ });
  const [, both] = receiver.received;
  t.match(both!.headers['webhook-signature'], /^v1,\S+ v1,\S+$/);
  const first = { ...both!.headers, 'webhook-signature': String(both!.headers['webhook-signature']).split(' ')[0] };
  t.ok(verifies(both!, secret) && verifies({ ...both!, headers: first }, second), 'both sign, the new one first');
  t.equal((await rows('channels', 'deliveries', channel.id)).length, 2);

  t.strictSame(await json('channels', 'remove', channel.id), { id: channel.id, removed: true });
  t.strictSame(await json('channels', 'deliveries'), []);
  t.match(await cli('channels', 'test', channel.id), { code: 1, stderr: /There is no channel/ });
  const actions = (await rows('audit', 'list')).map(({ action }) => action);
  const own = actions.filter((action) => action!.startsWith('channel.'));
  t.strictSame(
    own,
    ['removed', 'tested', 'rotated', 'tested', 'created'].map((action) => `channel.${action}`),
  );
});

t.test('what cannot be a channel is refused by the name of the field', async (t) => {
  const { add, cli } = await makeScene(t, {}, [PROJECT, { ...PROJECT, id: 'Their', workspace_id: 'other' }], {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  });
  const words = ['channels', 'add', '--workspace', 'acme', '--kind', 'slack', '--to'];
  const refused = async (message: RegExp, ...more: readonly string[]) =>
    t.match(await cli(...words, ...more), { code: 1, stdout: '', stderr: message }, more.join(' '));
  await refused(/^to must begin with https/, 'http://hooks.example.com/x');
  await refused(/^to must not be '10\.0\.0\.1'/, 'https://10.1/x');
  await refused(/^to must not name 'metadata\.google\.internal'/, 'https://metadata.google.internal/x');
  await refused(/^events must be some of alert\.opened/, 'https://hooks.invalid/x', '--event', 'all');
  await refused(/^types must be some of traffic_drop/, 'https://hooks.invalid/x', '--type', 'all');
  await refused(/^project: the workspace has no project/, 'https://hooks.invalid/x', '--project', 'Nope');
  await refused(/^project: the workspace has no project 'Their'\.$/m, 'https://hooks.invalid/x', '--project', 'Their');
  await refused(/^name must be/, 'https://hooks.invalid/x', '--name', ' ');
  await refused(/^name must be a text of 1 to 100 /, 'https://hooks.invalid/x', '--name', 'x'.repeat(101));
  const { channel: longest } = await add('slack', '/x', '--name', 'x'.repeat(100), '--project', 'Proj1');
  t.match(longest, { name: 'x'.repeat(100), project: 'Proj1' });
  const mail = ['channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'team@acme.example'];
  t.match(await cli(...mail), { code: 1, stderr: /ORDINATE_SMTP_URL is not set/ });
  t.match(await cli(...words.with(3, 'nowhere'), 'https://hooks.invalid/x'), { code: 1, stderr: /no workspace/ });
  // A name that cannot be resolved may be resolved later.
  t.match(await cli(...words, 'https://hooks.invalid/x'), { code: 0 });
  t.match(await add('slack', '/x', '--event', 'sync.failed', '--event', 'alert.opened', '--type', 'rule'), {
    channel: { events: ['sync.failed', 'alert.opened'], types: ['rule'] },
  });
});

t.test('an answer is stored without the address and its secret parts, whichever it repeats', async (t) => {
  const { add, cli, rows, receiver } = await makeScene(t);
  const { channel } = await add('webhook', '/hooks/hidden-path?token=hidden-token');
  const said = [
    [`bad ${receiver.origin}/hooks/hidden-path?token=hidden-token now`, 'bad … now'],
    ['bad /hooks/hidden-path?token=hidden-token now', 'bad … now'],
    ['bad /hooks/hidden-path now', 'bad … now'],
    ['bad ?token=hidden-token now', 'bad … now'],
    [`${'x'.repeat(200)}y`, 'x'.repeat(200)],
    [`${'x'.repeat(199)}ä`, 'x'.repeat(199)],
    [' two\n\u0007 lines ', 'two lines'],
  ] as const;
  for (const [answer, stored] of said) {
    receiver.answers = [(response) => response.writeHead(404).end(answer)];
    await cli('channels', 'test', channel.id);
    const answers = (await rows('channels', 'deliveries', channel.id)).map((row) => row['answer']);
    t.ok(answers.includes(stored), `${answer}: ${answers.join(' | ')}`);
    t.notOk(answers.some((text) => text!.includes('hidden')));
  }
});

t.test('no file of the data folder, of a backup or of a key has a secret of a channel', async (t) => {
  const { add, cli, json, world, receiver } = await makeScene(t);
  const { channel, secret } = await add('webhook', '/hooks/hidden-webhook-path');
  await add('slack', '/services/T0/B0/hidden-slack-path');
  receiver.answers = [(response) => response.writeHead(404).end('nothing at /hooks/hidden-webhook-path')];
  await cli('channels', 'test', channel.id);
  const { secret: second } = await json('channels', 'rotate', channel.id);
  const backup = join(temporaryFolder(t), 'backup');
  t.match(await cli('backup', backup), { code: 0 });
  const hidden = ['hidden-webhook-path', 'hidden-slack-path', String(secret).slice(6), String(second).slice(6)].flatMap(
    (text) => {
      const bytes = Buffer.from(text);
      return [text, bytes.toString('hex'), bytes.toString('base64url').slice(0, -2)];
    },
  );
  for (const folder of [world.dataFolder, backup]) {
    for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true }).filter((file) => file.isFile())) {
      const bytes = readFileSync(join(entry.parentPath, entry.name)).toString('latin1');
      for (const text of hidden) t.notOk(bytes.includes(text), `${entry.name}: ${text}`);
    }
  }
  t.match(await cli('secrets', 'rotate', '--forget'), { code: 0 });
  receiver.answers = [200];
  t.match(await cli('channels', 'test', channel.id), { code: 0 }, 'it can be read after a rotation of keys');
});
