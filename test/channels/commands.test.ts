// Channels are added, tested, rotated and removed by command; their secrets are shown once and stored encrypted only.
import { join } from 'node:path';
import t from 'tap';
import { filesWith } from '../hidden.ts';
import { temporaryFolder } from '../world.ts';
import { makeScene } from './scene.ts';
import { verifies } from './verify.ts';

t.test(
  'a test is signed with the secret, and after a rotation with both; a refusal is told without the address',
  async (t) => {
    const { add, json, cli, receiver } = await makeScene(t);
    const { channel, secret } = await add('webhook', '/hook?key=hidden-in-address', '--name', 'Pager');
    t.equal(Buffer.from(secret.replace('whsec_', ''), 'base64').length, 32);
    const { delivery } = await json('channels', 'test', channel.id);
    const about = { channel: channel.id, event: 'channel.test', state: 'sent', attempts: 1, status: 204, nextAt: null };
    t.match(delivery, about);
    const [tested] = receiver.received;
    t.match(tested, { path: '/hook?key=hidden-in-address', headers: { 'webhook-id': delivery.id } });
    t.match(tested!.headers['webhook-signature'], /^v1,\S+$/);
    t.ok(verifies(tested!, secret));

    const { secret: second, oldSecretValidUntil } = await json('channels', 'rotate', channel.id, '--overlap', '2h');
    const until = Date.parse(oldSecretValidUntil) - Date.now();
    t.ok(until > 7_100_000 && until <= 7_200_000, `${until} ms`);
    receiver.answers = [(response) => response.writeHead(500).end('out of \u0007order /hook?key=hidden-in-address')];
    const refused = await cli('channels', 'test', channel.id);
    t.match(refused, { code: 1, stderr: /not accepted: 500 out of order …/ });
    const [, both] = receiver.received;
    const signatures = String(both!.headers['webhook-signature']).split(' ');
    const first = { ...both!.headers, 'webhook-signature': signatures[0] };
    t.equal(signatures.length, 2);
    t.ok(verifies(both!, secret) && verifies({ ...both!, headers: first }, second), 'both sign, the new one first');
  },
);

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
  const hidden = ['hidden-webhook-path', 'hidden-slack-path', String(secret).slice(6), String(second).slice(6)];
  t.strictSame(filesWith([world.dataFolder, backup], hidden), []);
  t.match(await cli('secrets', 'rotate', '--forget'), { code: 0 });
  receiver.answers = [200];
  t.match(await cli('channels', 'test', channel.id), { code: 0 }, 'it can be read after a rotation of keys');
});
