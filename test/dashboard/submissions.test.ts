// A form that is submitted twice creates once, shows the same secret again, and leaves nothing that reads it.
import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createOnce } from '../../server/catalog/audit.ts';
import { findChannel } from '../../server/catalog/channels.ts';
import { eachWholeRow } from '../../server/catalog/entity-rows.ts';
import { findShare } from '../../server/catalog/keys.ts';
import { createKey } from '../../server/operations/keys.ts';
import { OPERATIONS } from '../../server/operations/operations.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { LAST, SITE } from '../findings/site.ts';
import { NOW, type Row, temporaryFolder } from '../world.ts';
import { audited, makeTeam } from './team.ts';

const P = '/projects/Proj1';
const RULE = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
const CONDITIONS = { field: 'query', op: 'contains', value: 'boots' };
/** Microseconds. */
const DAY = 24 * 3_600_000_000;
const KEYS = '/keys';

async function scene(t: Test) {
  const receiver = await startReceiver(t);
  const environment = {
    ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'),
    ORDINATE_DELIVERY_LOOPBACK: 'on',
  };
  const team = await makeTeam(t, SITE, environment);
  /** Submits a form with a key. */
  const submit = (key: string, path: string, body?: object, who: 'owner' | 'admin' = 'owner') =>
    team.send(who, 'POST', path, body, { 'idempotency-key': key });
  return { ...team, receiver, submit };
}

/** Each action that creates: what is sent, and what the trail then has one of. */
async function creations({ catalog, receiver, submit }: Awaited<ReturnType<typeof scene>>) {
  const { id: keyId } = await createKey(catalog, { workspace: 'acme', name: 'feeds', at: NOW * 1000 });
  const webhook = { kind: 'webhook', to: receiver.origin, name: 'before' };
  const { channel } = (await submit(randomUUID(), '/channels', webhook)).body;
  return [
    ['/keys', { name: 'BI export' }, 'key.created'],
    ['/feeds', { keyId, path: '/projects/Proj1/site.csv' }, 'feed.created'],
    ['/channels', { ...webhook, name: 'twice' }, 'channel.created'],
    [`/channels/${channel.id}/rotate`, {}, 'channel.rotated'],
    ['/invitations', { email: 'new@acme.example', role: 'member' }, 'invitation.created'],
    [`${P}/shares`, { screens: ['overview'], password: 'open sesame' }, 'share.created'],
    [`${P}/notes`, { date: '2026-03-02', category: 'launch', text: 'New checkout' }, 'note.created'],
    [`${P}/views`, { name: 'What fell', address: '/queries?change=down' }, 'view.created'],
    [`${P}/rules`, { name: 'Few clicks', rule: RULE }, 'rule.created'],
    [`${P}/groups`, { name: 'Boots', kind: 'rule', rule: { match: 'all', conditions: [CONDITIONS] } }, 'group.created'],
    [
      `${P}/page-groups`,
      { name: 'Blog', rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/blog' }] } },
      'page_group.created',
    ],
    [`${P}/keywords`, { queries: ['warm boots', 'light boots'] }, 'keyword.added'],
    [
      `${P}/findings/dismissed`,
      { type: 'low_ctr', query: 'dull title', from: '2026-02-08', to: LAST },
      'finding.dismissed',
    ],
  ] as const;
}

t.test('submitted twice, after one another and at once: one is created, and both answers are the same', async (t) => {
  const team = await scene(t);
  for (const [path, body, action] of await creations(team)) {
    const before = await audited(team.catalog, action);
    const key = randomUUID();
    const [first, second] = await Promise.all([team.submit(key, path, body), team.submit(key, path, body)]);
    t.ok(first.status === 201 || first.status === 200, `${path}: ${first.status} ${first.message}`);
    team.clock.at += 60_000;
    const third = await team.submit(key, path, body);
    for (const again of [second, third]) {
      t.strictSame([again.status, again.body], [first.status, first.body], path);
      t.equal(again.headers['cache-control'], first.headers['cache-control'], path);
    }
    t.equal((await audited(team.catalog, action)).length, before.length + 1, `${path} creates once`);
  }
});

/** What was kept of a result before a release changed what creations return: `made` by path, from the answer. */
async function keptBefore({ catalog }: Awaited<ReturnType<typeof scene>>, path: string, body: Row): Promise<unknown> {
  const at = (text: unknown): number => Date.parse(String(text)) * 1000;
  const tokenOf = ({ url }: Row): string => String(url).split(/[/#]/).at(-1)!.replace('.csv', '');
  if (path === '/keys') return { ...body, createdAt: at(body['createdAt']) };
  if (path === '/feeds') return { id: body['id'], token: tokenOf(body), keyId: '', path: '' };
  if (path === '/channels')
    return { channel: await findChannel(catalog, (body['channel'] as Row)['id'] as string), secret: body['secret'] };
  if (path.endsWith('/rotate')) return { ...body, oldSecretValidUntil: at(body['oldSecretValidUntil']) };
  if (path === '/invitations') {
    const invitation = body['invitation'] as Row;
    const [createdAt, expiresAt] = [at(invitation['createdAt']), at(invitation['expiresAt'])];
    return { invitation: { ...invitation, createdAt, expiresAt }, token: tokenOf(body) };
  }
  if (path.endsWith('/shares'))
    return { share: await findShare(catalog, (body['share'] as Row)['id'] as string), token: tokenOf(body) };
  if (path.endsWith('/keywords')) return body;
  // All others were flat.
  const [thing] = Object.values(body).filter((value) => typeof value === 'object' && value !== null);
  return { ...(thing as Row | undefined), id: body['dismissal'] ?? (thing as Row)['id'], createdAt: 1 };
}

t.test('a form whose first result the release before has kept gets the same answer, and creates nothing', async (t) => {
  const team = await scene(t);
  for (const [path, body, action] of await creations(team)) {
    const first = await team.submit(randomUUID(), path, body);
    const before = await audited(team.catalog, action);
    const key = randomUUID();
    const form = { key, workspace: 'acme', by: 'owner@acme.example', method: 'POST', at: team.clock.at * 1000 };
    const sent = { ...form, path: `/app/api${path}`, body: JSON.stringify(body) };
    const kept = await keptBefore(team, path, first.body);
    await team.catalog.transaction((tx) => createOnce(tx, sent, async () => kept));
    const again = await team.submit(key, path, body);
    const text = ({ status, body: answer }: typeof first): string => `${status} ${JSON.stringify(answer)}`;
    t.equal(text(again), text(first), `${path}: to the byte`);
    t.equal((await audited(team.catalog, action)).length, before.length, path);
  }
});

t.test('a form that is submitted again shows what it has created as it is now', async (t) => {
  const { submit, send } = await scene(t);
  const key = randomUUID();
  const note = { date: '2026-03-02', category: 'launch', text: 'New checkout' };
  const path = `${P}/notes/${(await submit(key, `${P}/notes`, note)).body.note.id}`;
  const changed = await send('owner', 'PATCH', path, { text: 'New shop' });
  t.match(await submit(key, `${P}/notes`, note), { status: 201, body: changed.body });
  await send('owner', 'DELETE', path);
  t.match(await submit(key, `${P}/notes`, note), { status: 404, message: 'The project has no such note.' });
});

t.test('every action that creates is one of these', async (t) => {
  const all = globSync(join(import.meta.dirname, '../../server/dashboard/*-{actions,routes}.ts'));
  const sources = all.filter((file) => !file.endsWith('operation-routes.ts'));
  const actions = sources.flatMap((file) => readFileSync(file, 'utf8').match(/creates: true/g) ?? []);
  const declared = [...actions, ...OPERATIONS.filter(({ names }) => names === 'submission')];
  const tested = await creations(await scene(t));
  // That of a project through a grant needs a provider: `dialogues/connect-projects.txt`.
  t.equal(declared.length, tested.length + 1);
});

t.test('a key belongs to one form of one member', async (t) => {
  const { submit, send, clock, catalog } = await scene(t);
  const key = randomUUID();
  const made = await submit(key, KEYS, { name: 'BI export' });
  t.match(await submit(key, KEYS, { name: 'another' }), { status: 409, code: 'conflict', message: /other content/ });
  t.match(await submit(key, `${P}/views`, { name: 'BI export', address: '' }), { status: 409 });
  const other = await submit(key, KEYS, { name: 'BI export' }, 'admin');
  t.equal(other.status, 200);
  t.not(other.body.key, made.body.key, 'another member gets nothing of it');
  for (const wrong of ['', 'key', '00000000-0000-0000-0000-000000000000']) {
    const refused = await submit(wrong, KEYS, { name: 'none' });
    t.match(refused, { status: 400, code: 'invalid_request', message: /^Idempotency-Key must be/ }, wrong);
  }
  // What was refused creates nothing, and may be corrected in the same form.
  const later = randomUUID();
  t.equal((await submit(later, KEYS, { name: '' })).status, 400);
  t.equal((await submit(later, KEYS, { name: 'corrected' })).status, 200);
  const { keys } = (await send('owner', 'GET', KEYS)).body as { keys: { name: string }[] };
  t.strictSame(keys.map(({ name }) => name).toSorted(), ['BI export', 'BI export', 'corrected', 'key', 'test']);

  // Sessions do not last for a day.
  const form = { key: randomUUID(), workspace: 'acme', by: 'owner@acme.example', method: 'POST', path: '', body: '' };
  const nextDay = { ...form, at: clock.at * 1000 + DAY + 1 };
  await catalog.transaction((tx) => createOnce(tx, nextDay, async () => ({})));
  const stored: unknown[] = [];
  for await (const rows of eachWholeRow(catalog, 'submissions')) stored.push(...rows);
  t.equal(stored.length, 1, 'forgotten after a day');

  const submitted = (at: number, other = {}) =>
    catalog.transaction((tx) => createOnce(tx, { ...form, ...other, at }, async () => ({ at })));
  await submitted(nextDay.at + DAY - 1, { key: randomUUID() });
  t.strictSame(await submitted(nextDay.at + DAY), {}, 'and not before, whatever else is submitted');
});

t.test('the catalog has neither the key of a form nor what it was answered', async (t) => {
  const team = await scene(t);
  const known: string[] = [];
  for (const [path, body] of await creations(team)) {
    const key = randomUUID();
    const answer = await team.submit(key, path, body);
    known.push(key);
    for (const name of ['key', 'url', 'secret']) if (name in answer.body) known.push(String(answer.body[name]));
  }
  t.ok(known.length >= 13 + 6, 'with the secrets of a key, a feed, two of a channel, an invitation and a share');
  const rows: string[] = [];
  for await (const more of eachWholeRow(team.catalog, 'submissions')) {
    rows.push(...more.map((row) => JSON.stringify(row)));
  }
  t.ok(rows.length >= 13);
  for (const secret of known) t.notOk(rows.some((row) => row.includes(secret)));
});
