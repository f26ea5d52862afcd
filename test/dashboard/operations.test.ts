// What members do is refused in one order, and secrets are answered so that nobody keeps them.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

const team = (t: Test) => makeTeam(t, {}, { ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key') });
const HOOK = { kind: 'webhook', to: 'https://93.184.216.34/hook' };
const P = '/projects/Proj1';

t.test('answers with a secret are stored nowhere', async (t) => {
  const { send } = await team(t);
  const key = await send('owner', 'POST', '/keys', { name: 'BI' });
  const channel = await send('owner', 'POST', '/channels', HOOK);
  const answers = [
    ...[key, channel],
    await send('owner', 'POST', '/feeds', { keyId: key.body.id, path: `${P}/site` }),
    await send('owner', 'POST', `${P}/shares`, { screens: ['overview'] }),
    await send('owner', 'POST', '/invitations', { email: 'new@acme.example', role: 'member' }),
    await send('owner', 'POST', `/channels/${channel.body.channel.id}/rotate`),
  ];
  for (const { status, headers, body } of answers) {
    t.ok(status < 300, JSON.stringify(body));
    t.equal(headers['cache-control'], 'no-store', Object.keys(body).join(' '));
  }
});

t.test('whose it is counts before what is sent, and what is sent before the version that was read', async (t) => {
  const { send } = await team(t);
  const stale = { 'if-match': `"${'0'.repeat(32)}"` };
  const view = await send('owner', 'POST', `${P}/views`, { name: 'A', address: '' });
  const ofOwner = `${P}/views/${view.body.view.id}`;
  t.match(await send('member', 'PATCH', ofOwner, { name: '' }, stale), {
    status: 403,
    message: /change their own views/,
  });
  t.match(await send('member', 'DELETE', ofOwner, { nosuch: 1 }), { status: 403 });
  const { channel } = (await send('owner', 'POST', '/channels', HOOK)).body;
  const path = `/channels/${channel.id}`;
  const unknown = { events: ['nosuch'] };
  t.match(await send('owner', 'PATCH', path, unknown, stale), { status: 400, message: /^events must be some of/ });
  t.match(await send('owner', 'PATCH', path, { name: 'Team' }, stale), { status: 409, code: 'outdated' });
  t.match(await send('owner', 'PATCH', path, unknown), { status: 400 });
  t.strictSame((await send('owner', 'GET', path)).body.channel, channel, 'nothing has changed');
});

t.test('of two who take an invitation back at once, one is told that it is gone', async (t) => {
  const { send } = await team(t);
  const { invitation } = (await send('owner', 'POST', '/invitations', { email: 'new@acme.example', role: 'member' }))
    .body;
  const path = `/invitations/${invitation.id}`;
  const both = await Promise.all([send('owner', 'DELETE', path), send('owner', 'DELETE', path)]);
  t.strictSame(new Set(both.map(({ status }) => status)), new Set([204, 404]));
});
