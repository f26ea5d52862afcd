// Owners change roles, remove members and invite new ones by links that work once; one owner always stays.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { versionOf } from '../../server/domain/versions.ts';
import { command } from '../command.ts';
import { NOW } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const DAY = 86_400_000;
const PUBLIC = { ORDINATE_PUBLIC_URL: 'https://reports.acme.example' };
type Team = Awaited<ReturnType<typeof makeTeam>>;

/** Signs in by the link of an invitation; later requests are sent as `member`. */
async function follow({ app, cookies }: Team, url: string) {
  const headers = { authorization: `Bearer ${url.split('#')[1]!}`, 'sec-fetch-site': 'same-origin', host: 'localhost' };
  const response = await app.inject({ method: 'POST', url: '/app/session', headers });
  if (response.statusCode === 200) cookies.set('member', String(response.headers['set-cookie']).split(';')[0]!);
  return response;
}

t.test('members: listed, given roles and removed; it counts from the next request', async (t) => {
  const { send, catalog } = await makeTeam(t);
  t.strictSame((await send('owner', 'GET', '/members')).body, {
    members: [
      { email: 'admin@acme.example', role: 'admin', version: versionOf({ role: 'admin' }) },
      { email: 'member@acme.example', role: 'member', version: versionOf({ role: 'member' }) },
      { email: 'owner@acme.example', role: 'owner', version: versionOf({ role: 'owner' }) },
    ],
  });
  t.match(await send('owner', 'PATCH', '/members/MEMBER@acme.example', { role: 'admin' }), {
    ...{ status: 200, body: { member: { email: 'member@acme.example', role: 'admin' } } },
  });
  t.match((await send('member', 'GET', '/session')).body, { role: 'admin' });
  t.equal((await send('member', 'GET', '/members')).status, 200);
  t.equal((await send('owner', 'DELETE', '/members/member%40acme.example')).status, 204);
  t.equal((await send('member', 'GET', '/session')).status, 401);
  t.equal((await send('owner', 'PATCH', '/members/member@acme.example', { role: 'admin' })).status, 404);
  const entries = (await audited(catalog, 'member.set')).filter(({ actor }) => actor === 'owner@acme.example');
  t.strictSame(entries, [{ actor: 'owner@acme.example', subject: 'member@acme.example', details: { role: 'admin' } }]);
  t.match(await audited(catalog, 'member.removed'), [{ actor: 'owner@acme.example', subject: 'member@acme.example' }]);
});

t.test('a removed member who comes back does not get the old sessions back', async (t) => {
  const { send, dataFolder } = await makeTeam(t);
  const run = (...words: string[]) =>
    command({ ORDINATE_DATA: dataFolder }, 'members', ...words, '--workspace', 'acme');
  t.match(await run('remove', '--email', 'MEMBER@acme.example'), { code: 0 });
  t.match(await run('remove', '--email', 'member@acme.example'), { code: 1, stderr: /is not a member/ });
  t.match(await run('add', '--email', 'member@acme.example', '--role', 'owner'), { code: 0 });
  t.equal((await send('member', 'GET', '/session')).status, 401);
});

t.test('the last owner stays', async (t) => {
  const { send } = await makeTeam(t);
  const owner = '/members/owner@acme.example';
  const kept = { status: 409, code: 'conflict', message: /only owner/ };
  t.match(await send('owner', 'PATCH', owner, { role: 'member' }), kept);
  t.match(await send('owner', 'DELETE', owner), kept);
  t.equal((await send('owner', 'PATCH', owner, { role: 'owner' })).status, 200);
  await send('owner', 'PATCH', '/members/admin@acme.example', { role: 'owner' });
  t.equal((await send('owner', 'PATCH', owner, { role: 'member' })).status, 200);
  t.equal((await send('owner', 'DELETE', '/members/admin@acme.example')).status, 403, 'no longer an owner');
});

t.test('an invitation: a link that makes a member, once, within 7 days', async (t) => {
  const team = await makeTeam(t, {}, PUBLIC);
  const { send, catalog, clock, dataFolder, log } = team;
  const made = await send('owner', 'POST', '/invitations', { email: 'new@acme.example', role: 'admin' });
  t.equal(made.status, 201);
  t.equal(made.headers['cache-control'], 'no-store');
  const { invitation, url } = made.body;
  t.match(invitation, { email: 'new@acme.example', role: 'admin', createdBy: 'owner@acme.example' });
  t.equal(invitation.expiresAt, new Date(NOW + 7 * DAY).toISOString());
  t.match(url, /^https:\/\/reports\.acme\.example\/app\/sign-in#ord_link_[A-Za-z0-9]{32}$/);
  t.strictSame((await send('owner', 'GET', '/invitations')).body, { invitations: [invitation] });
  clock.at += 6 * DAY;
  t.equal((await follow(team, url)).statusCode, 200);
  t.match((await send('member', 'GET', '/session')).body, { email: 'new@acme.example', role: 'admin' });
  t.match((await send('owner', 'GET', '/members')).status, 401, 'the session of the owner has ended meanwhile');
  t.match((await send('member', 'GET', '/members')).body.members, [{}, {}, { email: 'new@acme.example' }, {}]);
  const again = await follow(team, url);
  t.match(again.json<object>(), {
    error: { code: 'unauthorized', message: /already used or revoked, or is too old/ },
  });
  const { id: subject } = invitation;
  t.match(await audited(catalog, 'invitation.created'), [{ actor: 'owner@acme.example', subject }]);
  t.match(await audited(catalog, 'invitation.used'), [
    { actor: 'new@acme.example', subject, details: { role: 'admin' } },
  ]);
  const token = String(url).split('#')[1]!;
  const stored = ['catalog.sqlite', 'catalog.sqlite-wal'].map((file) => readFileSync(join(dataFolder, file)));
  t.notOk(
    stored.some((bytes) => bytes.includes(token)),
    'only its hash is stored',
  );
  t.notOk(log.join('').includes(token));
});

t.test('invitations that are too old or revoked make nobody a member', async (t) => {
  const team = await makeTeam(t);
  const { send, catalog, clock } = team;
  const invite = async (email: string) =>
    (await send('owner', 'POST', '/invitations', { email, role: 'member' })).body as {
      invitation: { id: string };
      url: string;
    };
  const revoked = await invite('a@acme.example');
  t.match(revoked.url, /^http:\/\/localhost\/app\/sign-in#/, 'where the browser of the owner is');
  t.equal((await send('owner', 'DELETE', `/invitations/${revoked.invitation.id}`)).status, 204);
  t.equal((await send('owner', 'DELETE', `/invitations/${revoked.invitation.id}`)).status, 404);
  t.equal((await follow(team, revoked.url)).statusCode, 401);
  const old = await invite('b@acme.example');
  clock.at += 7 * DAY;
  t.equal((await follow(team, old.url)).statusCode, 401);
  t.strictSame(await catalog.statements.all('invitations', { workspace: 'acme', at: 0 }), []);
  t.match(await audited(catalog, 'invitation.revoked'), [{ subject: revoked.invitation.id }]);
  t.strictSame(await audited(catalog, 'invitation.used'), []);
});

t.test('who became a member meanwhile keeps the role; a removed one cannot come back by an old link', async (t) => {
  const team = await makeTeam(t);
  const { send, dataFolder } = team;
  const url = async (email: string) =>
    (await send('owner', 'POST', '/invitations', { email, role: 'owner' })).body.url as string;
  const add = ['members', 'add', '--workspace', 'acme', '--role', 'member', '--email'];
  const first = await url('c@acme.example');
  await command({ ORDINATE_DATA: dataFolder }, ...add, 'C@acme.example');
  t.equal((await follow(team, first)).statusCode, 200);
  t.match((await send('member', 'GET', '/session')).body, { role: 'member' });
  const second = await url('d@acme.example');
  await command({ ORDINATE_DATA: dataFolder }, ...add, 'd@acme.example');
  t.equal((await send('owner', 'DELETE', '/members/d@acme.example')).status, 204);
  t.equal((await follow(team, second)).statusCode, 401);
});

t.test('by command, and after a restore', async (t) => {
  const team = await makeTeam(t);
  const { dataFolder } = team;
  const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder, ...PUBLIC }, ...words);
  const invite = ['members', 'invite', '--workspace', 'acme', '--role', 'member'];
  const { stdout } = await run(...invite, '--email', 'e@acme.example', '--json');
  const { url } = JSON.parse(stdout) as { url: string };
  t.match(url, /^https:\/\/reports\.acme\.example\/app\/sign-in#ord_link_/);
  t.match(await run(...invite, '--email', 'e@acme.example'), { code: 1, stderr: /already invited/ });
  t.match(await run('backup', `${dataFolder}-backup`), { code: 0 });
  const restored = `${dataFolder}-restored`;
  t.match(await run('restore', `${dataFolder}-backup`, '--data', restored), { code: 0 });
  t.equal((await follow(team, url)).statusCode, 200);
  const again = await command({ ORDINATE_DATA: restored }, ...invite, '--email', 'e@acme.example');
  t.match(again, { code: 0 }, 'an invitation of before, which may have been used since, is gone');
});

t.test('who may, and what is wrong', async (t) => {
  const { send, catalog } = await makeTeam(t);
  const managers = ['owner', 'admin'] as const;
  const admin = '/members/admin@acme.example';
  await eachRole(t, send, { allowed: managers, status: 200, other: 200 }, async () => ['GET', '/members']);
  t.strictSame((await send('other', 'GET', '/members')).body, {
    ...{ members: [{ email: 'other@acme.example', role: 'owner', version: versionOf({ role: 'owner' }) }] },
  });
  await eachRole(t, send, { allowed: ['owner'], status: 200 }, async () => ['PATCH', admin, { role: 'admin' }]);
  await eachRole(t, send, { allowed: ['owner'], status: 200, other: 200 }, async () => ['GET', '/invitations']);
  await eachRole(t, send, { allowed: ['owner'], status: 201, other: 201 }, async (who) => [
    ...(['POST', '/invitations', { email: `new-${who}@acme.example`, role: 'member' }] as const),
  ]);
  await eachRole(t, send, { allowed: ['owner'], status: 204 }, async (who) => {
    const body = { email: `again-${who}@acme.example`, role: 'member' };
    return ['DELETE', `/invitations/${(await send('owner', 'POST', '/invitations', body)).body.invitation.id}`];
  });
  await eachRole(t, send, { allowed: ['owner'], status: 204 }, async () => ['DELETE', '/members/member@acme.example']);
  for (const [body, status, message] of [
    [{ role: 'member' }, 400, /email must be sent/],
    [{ email: 'new', role: 'member' }, 400, /'email' must be an e-mail address/],
    [{ email: 'a b@acme.example', role: 'member' }, 400, /'email' must be an e-mail address/],
    [{ email: 'x@acme.example', role: 'boss' }, 400, /'role' must be one of owner, admin, member/],
    [{ email: 'x@acme.example', role: 'member', name: 'X' }, 400, /'name' is not a field/],
    [{ email: 'ADMIN@acme.example', role: 'member' }, 409, /is already admin of the workspace/],
    [{ email: 'NEW-owner@acme.example', role: 'member' }, 409, /is already invited/],
  ] as const) {
    t.match(await send('owner', 'POST', '/invitations', body), { status, message }, JSON.stringify(body));
  }
  t.match(await send('owner', 'PATCH', admin, {}), { status: 400, message: /role must be sent/ });
  t.equal((await audited(catalog, 'member.set')).filter(({ actor }) => actor === 'owner@acme.example').length, 1);
});
