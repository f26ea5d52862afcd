// Two people who edit the same thing: who saves second is told, and overwrites nothing that they have not seen.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { routeOf } from '../../server/dashboard/operation-routes.ts';
import { OPERATIONS } from '../../server/operations/operations.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { keyword, temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

const P = '/projects/Proj1';
const RULE = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
const SELECTS = (value: string) => ({ match: 'any', conditions: [{ op: 'starts_with', value }] });

/** One of each thing that people edit: its path, how, and the changes of two people. */
async function scene(t: Test) {
  const receiver = await startReceiver(t);
  const team = await makeTeam(
    t,
    { keywords: [keyword('Kw001', 'boots')] },
    { ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'), ORDINATE_DELIVERY_LOOPBACK: 'on' },
  );
  const made = async (path: string, body: object, name: string): Promise<string> => {
    const answer = await team.send('owner', 'POST', path, body);
    t.equal(answer.status, 201, `${path} ${answer.message}`);
    return `${path}/${answer.body[name].id}`;
  };
  const note = { date: '2026-03-02', category: 'launch', text: 'New checkout' };
  const pageGroup = { name: 'Blog', rule: SELECTS('/blog') };
  const edits = [
    ['PATCH', await made(`${P}/notes`, note, 'note'), { text: 'First' }, { text: 'Second' }],
    ['PATCH', await made(`${P}/views`, { name: 'A', address: '' }, 'view'), { name: 'First' }, { name: 'Second' }],
    ['PATCH', await made(`${P}/rules`, { name: 'A', rule: RULE }, 'rule'), { enabled: false }, { severity: 'info' }],
    [
      'PATCH',
      await made(`${P}/groups`, { name: 'A', kind: 'manual' }, 'group'),
      { keywordIds: ['Kw001'] },
      { name: 'Second' },
    ],
    ['PATCH', await made(`${P}/page-groups`, pageGroup, 'pageGroup'), { pinnedUrls: ['/a'] }, { rule: SELECTS('/b') }],
    ['PATCH', `${P}/keywords/Kw001`, { tags: ['first'] }, { targetUrl: 'https://acme.example/second' }],
    ['PUT', `${P}/brand-terms`, { terms: ['first'] }, { terms: ['second'] }],
    ['PUT', `${P}/tags`, { tags: ['first', '～', '😀'] }, { tags: ['second', '～', '😀'] }],
    [
      'PATCH',
      await made('/channels', { kind: 'webhook', to: receiver.origin }, 'channel'),
      { enabled: false },
      { name: 'Second' },
    ],
    ['PATCH', '/members/member@acme.example', { role: 'admin' }, { role: 'owner' }],
  ] as const;
  const read = async (path: string) => {
    const { status, body } = await team.send('owner', 'GET', path);
    t.equal(status, 200, path);
    return body as { version: string };
  };
  return { ...team, edits, read };
}

t.test(
  'the second of two edits is refused, changes nothing, and passes once its author has read the first',
  async (t) => {
    const { send, edits, read } = await scene(t);
    for (const [method, path, first, second] of edits) {
      const { version } = await read(path);
      t.match(version, /^[0-9a-f]{32}$/, path);
      const match = { 'if-match': `"${version}"` };
      const [one, other] = await Promise.all([
        send('owner', method, path, first, match),
        send('owner', method, path, second, match),
      ]);
      t.strictSame(new Set([one.status, other.status]), new Set([200, 409]), `${method} ${path}: ${one.message}`);
      const [lost, wanted] = one.status === 409 ? [one, first] : [other, second];
      t.equal(lost.code, 'outdated', path);
      const now = await read(path);
      t.not(now.version, version, `${path} has the version of the first`);
      const again = await send('owner', method, path, wanted, { 'if-match': `"${now.version}"` });
      t.equal(again.status, 200, `${path} ${again.message}`);
      if (path.startsWith('/members')) continue;
      t.equal(again.body.version, (await read(path)).version, `${path}: an edit answers what to edit next`);
    }
  },
);

t.test('each field that people edit is part of its version', async (t) => {
  const { send, edits, read } = await scene(t);
  const made = async (name: string, kind: string, more: object): Promise<string> =>
    (await send('owner', 'POST', `${P}/groups`, { name, kind, ...more })).body.group.id as string;
  const folder = await made('Folder', 'folder', {});
  const selects = { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'a' }] };
  const ruled = `${P}/groups/${await made('Rule', 'rule', { rule: selects })}`;
  const fields: Readonly<Record<string, readonly object[]>> = {
    notes: [
      ...[{ date: '2026-03-01' }, { endDate: '2026-03-05' }, { category: 'other' }, { text: 'x' }],
      ...[
        { clientVisible: true },
        { scope: 'page', page: 'https://acme.example/a' },
        { page: 'https://acme.example/b' },
        { scope: 'keyword', keywordId: 'Kw001', page: null },
      ],
      { scope: 'group', groupId: folder, keywordId: null },
    ],
    views: [{ name: 'x' }, { address: '?a=b' }],
    rules: [{ name: 'x' }, { rule: { ...RULE, value: 101 } }, { severity: 'critical' }, { enabled: false }],
    groups: [{ name: 'x' }, { parentId: folder }, { pinned: true }, { keywordIds: ['Kw001'] }],
    'page-groups': [{ name: 'x' }, { rule: SELECTS('/b') }, { pinnedUrls: ['/a'] }],
    keywords: [{ tags: ['x'] }, { targetUrl: 'https://acme.example/x' }, { archived: true }],
    channels: [
      ...[
        { name: 'x' },
        { events: ['alert.opened'] },
        { types: ['rule'] },
        { minSeverity: 'info' },
        { enabled: false },
      ],
    ],
  };
  const things = edits.map(([method, path]) => [method, path, fields[path.split('/').at(-2)!]] as const);
  const changed = { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'b' }] };
  for (const [method, path, changes] of [...things, ['PATCH', ruled, [{ rule: changed }]] as const]) {
    for (const change of changes ?? []) {
      const { version } = await read(path);
      const answer = await send('owner', method, path, change, { 'if-match': `"${version}"` });
      t.equal(answer.status, 200, `${path} ${JSON.stringify(change)} ${answer.message}`);
      t.not(answer.body.version, version, `${path} ${JSON.stringify(change)}`);
    }
  }
});

t.test('a version is required, and is one of what is edited only', async (t) => {
  const { send, edits } = await scene(t);
  for (const [method, path, first] of edits) {
    for (const wrong of ['', '*', '"', `"${'0'.repeat(31)}"`]) {
      t.match(await send('owner', method, path, first, { 'if-match': wrong }), {
        ...{ status: 400, code: 'invalid_request', message: /^If-Match must be the version/ },
      });
    }
    t.equal((await send('owner', method, path, first, { 'if-match': `"${'0'.repeat(32)}"` })).status, 409, path);
  }
});

t.test('every change of what people edit takes a version, and is one of these', async (t) => {
  const changes = OPERATIONS.filter(({ verb }) => verb === 'change' || verb === 'set');
  const without = changes.filter(({ names }) => names !== 'version').map((operation) => routeOf(operation).url);
  t.strictSame(without, ['/projects/:id/favourite'], 'the mark of a member, which nobody else edits');
  const { edits } = await scene(t);
  const missing = changes
    .filter(({ names }) => names === 'version')
    .map((operation) => routeOf(operation))
    .filter(({ method, url }) => {
      const path = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`);
      return !edits.some((edit) => edit[0] === method && path.test(edit[1]));
    });
  t.strictSame(missing, []);
  t.equal(edits.length, changes.length - without.length);

  const all = globSync(join(import.meta.dirname, '../../server/dashboard/*-{actions,routes}.ts'));
  const sources = all.filter((file) => !file.endsWith('operation-routes.ts'));
  const apart = sources.flatMap(
    (file) => readFileSync(file, 'utf8').match(/method: 'P(UT|ATCH)',\s+\S+: \S+,\s+\S+: \S+/g) ?? [],
  );
  t.match(apart, [/edits: false,\s+url: '.projects.:id.bing'/], 'a key of Bing, which nobody reads');
  t.equal(apart.length, 1);
});
