// Owners and admins make groups of keywords and pages: checked, audited, previewed, visible at once, kept by a rebuild.
import t from 'tap';
import { command } from '../command.ts';
import { facts, keyword } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const P = '/projects/Proj1';
const ROWS = {
  keywords: [
    keyword('Kw001', 'red shoes'),
    keyword('Kw002', 'boots'),
    keyword('Kw003', 'old shoes', { archived: true }),
    keyword('Kw004', 'blue shoes'),
  ],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-05', 'mobile', 9, 100, 100],
    ['Kw004', '2026-03-05', 'mobile', 1, 100, 100],
    ['Kw004', '2026-01-05', 'mobile', 99, 100, 100],
  ),
  page_daily: facts(
    'url date country',
    ['https://shop.example/blog/a', '2026-03-05', 'usa', 2, 10, 0],
    ['https://shop.example/blog/b?x=1', '2026-03-05', 'usa', 5, 10, 0],
    ['https://shop.example/about', '2026-03-05', 'usa', 1, 10, 0],
    ['https://shop.example/blog/old', '2026-01-05', 'usa', 1, 10, 0],
  ),
};
const SHOES = { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'SHOES' }] };
const BLOG = { match: 'any', conditions: [{ op: 'starts_with', value: '/blog/' }] };
type Made = { id: string; keywordIds: string[] | null };
const managers = ['owner', 'admin'] as const;

t.test('groups: made, changed and removed, each visible at once and audited', async (t) => {
  const { send, read, catalog } = await makeTeam(t, ROWS);
  const make = async (body: object) => (await send('admin', 'POST', `${P}/groups`, body)).body.group as Made;
  const folder = await make({ name: 'Shoes', kind: 'folder', pinned: true });
  const manual = await make({ name: ' By hand ', kind: 'manual', parentId: folder.id, keywordIds: ['Kw002', 'Kw001'] });
  const byRule = await make({ name: 'By rule', kind: 'rule', rule: SHOES });
  t.match(folder, { kind: 'folder', parentId: null, position: 1, pinned: true, rule: null, keywordIds: null });
  t.match(manual, { name: 'By hand', parentId: folder.id, position: 2, keywordIds: ['Kw001', 'Kw002'], rule: null });
  t.match(byRule, { kind: 'rule', position: 3, rule: SHOES, keywordIds: null });
  t.strictSame((await read(`${P}/groups`)).body.groups, [folder, manual, byRule]);
  t.match((await read(`${P}/keywords?group=${folder.id}`)).body.keywords, [{ query: 'boots' }, { query: 'red shoes' }]);

  const change = async (id: string, body: object) =>
    (await send('owner', 'PATCH', `${P}/groups/${id}`, body)).body as { group: Made };
  t.match(await change(manual.id, { name: 'Mine', parentId: null, keywordIds: ['Kw001', 'Kw003'] }), {
    ...{ group: { name: 'Mine', parentId: null, keywordIds: ['Kw001'] } },
  });
  await send('owner', 'PATCH', `${P}/keywords/Kw003`, { archived: false });
  t.match((await change(manual.id, { pinned: true })).group.keywordIds, ['Kw001', 'Kw003'], 'archived members stay');
  await send('owner', 'PATCH', `${P}/keywords/Kw003`, { archived: true });
  t.match(await change(manual.id, { keywordIds: [] }), { group: { keywordIds: [] } });
  const any = { ...SHOES, match: 'any' };
  t.match(await change(byRule.id, { rule: any, parentId: folder.id }), { group: { rule: any, parentId: folder.id } });

  t.match(await send('owner', 'DELETE', `${P}/groups/${folder.id}`), {
    ...{ status: 409, code: 'conflict', message: /Move or remove first what is in the folder: 'By rule'/ },
  });
  for (const { id } of [byRule, manual, folder])
    t.equal((await send('owner', 'DELETE', `${P}/groups/${id}`)).status, 204);
  t.strictSame((await read(`${P}/groups`)).body.groups, []);
  t.match(await audited(catalog, 'group.created'), [
    { actor: 'admin@acme.example', subject: byRule.id, details: { project: 'Proj1', name: 'By rule', kind: 'rule' } },
    { subject: manual.id },
    { subject: folder.id },
  ]);
  t.equal((await audited(catalog, 'group.changed')).length, 4);
  t.match(await audited(catalog, 'group.removed'), [{ subject: folder.id }, {}, {}]);
});

t.test('page groups: made, changed and removed, each visible at once and audited', async (t) => {
  const { send, read, catalog } = await makeTeam(t, ROWS);
  const made = await send('admin', 'POST', `${P}/page-groups`, { name: 'Blog', rule: BLOG, pinnedUrls: ['/a', '/a'] });
  t.match(made, { status: 201, body: { pageGroup: { name: 'Blog', position: 1, rule: BLOG, pinnedUrls: ['/a'] } } });
  const { pageGroup } = made.body;
  t.strictSame((await read(`${P}/page-groups`)).body.pageGroups, [pageGroup]);
  const path = `${P}/page-groups/${pageGroup.id}`;
  t.match(await send('owner', 'PATCH', path, { name: 'News', pinnedUrls: [] }), {
    ...{ status: 200, body: { pageGroup: { ...pageGroup, name: 'News', pinnedUrls: [] } } },
  });
  t.equal((await send('owner', 'DELETE', path)).status, 204);
  t.strictSame((await read(`${P}/page-groups`)).body.pageGroups, []);
  for (const action of ['page_group.created', 'page_group.changed', 'page_group.removed']) {
    t.match(await audited(catalog, action), [{ subject: pageGroup.id, details: { project: 'Proj1' } }], action);
  }
});

t.test('what something is about cannot be removed', async (t) => {
  const { send, load } = await makeTeam(t, ROWS);
  const { id } = (await send('owner', 'POST', `${P}/groups`, { name: 'A', kind: 'manual' })).body.group;
  const { id: pages } = (await send('owner', 'POST', `${P}/page-groups`, { name: 'A', rule: BLOG })).body.pageGroup;
  const note = { date: '2026-03-02', category: 'launch', text: 'New', scope: 'group', groupId: id };
  await send('owner', 'POST', `${P}/notes`, note);
  t.match(await send('owner', 'DELETE', `${P}/groups/${id}`), { status: 409, message: /the note of 2026-03-02 'New'/ });
  const rule = { metric: 'clicks', window: '7d', against: 'previous', op: 'falls_by', value: 9, unit: 'percent' };
  const row = { project_id: 'Proj1', name: 'Falls', rule: { scope: 'page_group', id: pages, ...rule } };
  await load({ alert_rules: [{ ...row, id: '0b9b7a5e-7a3c-4d7c-8f53-1c2a4c6f7e01' }] });
  t.match(await send('owner', 'DELETE', `${P}/page-groups/${pages}`), { status: 409, message: /alert rule 'Falls'/ });
});

t.test('previews: what a rule selects, without saving anything', async (t) => {
  const { send, read } = await makeTeam(t, ROWS);
  const preview = async (of: string, body: object) =>
    (await send('admin', 'POST', `${P}/${of}/preview`, body)).body as { total: number };
  t.strictSame(await preview('groups', { rule: SHOES }), {
    total: 2,
    keywords: [
      { id: 'Kw004', query: 'blue shoes' },
      { id: 'Kw001', query: 'red shoes' },
    ],
  });
  const many = { match: 'all', conditions: [...SHOES.conditions, { field: 'clicks', op: 'gt', value: 5 }] };
  t.strictSame(await preview('groups', { rule: many }), { total: 1, keywords: [{ id: 'Kw001', query: 'red shoes' }] });
  t.strictSame(await preview('page-groups', { rule: BLOG, pinnedUrls: ['/about'] }), {
    total: 3,
    pages: ['https://shop.example/blog/b?x=1', 'https://shop.example/blog/a', 'https://shop.example/about'],
  });
  t.match((await preview('page-groups', { rule: BLOG })).total, 2);
  t.strictSame((await read(`${P}/groups`)).body.groups, []);
});

t.test('a rule about clicks has no preview where the clicks of keywords are unknown', async (t) => {
  const days = facts('date device', ['2026-03-05', 'unknown', 100, 1000, 0]);
  const { send } = await makeTeam(t, { keywords: ROWS.keywords, site_daily: days });
  const few = { match: 'all', conditions: [...SHOES.conditions, { field: 'clicks', op: 'lt', value: 5 }] };
  t.match(await send('admin', 'POST', `${P}/groups/preview`, { rule: few }), {
    ...{ status: 400, message: /^rule: the clicks of keywords of 2026-03-05 are unknown/ },
  });
  t.match((await send('admin', 'POST', `${P}/groups/preview`, { rule: SHOES })).body, { total: 2 });
});

t.test('who may', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  for (const [of, body] of [
    ['groups', { name: 'A', kind: 'rule', rule: SHOES }],
    ['page-groups', { name: 'A', rule: BLOG }],
  ] as const) {
    const make = async () => {
      const made = (await send('owner', 'POST', `${P}/${of}`, body)).body as { group?: Made; pageGroup?: Made };
      return `${P}/${of}/${(made.group ?? made.pageGroup)!.id}`;
    };
    await eachRole(t, send, { allowed: managers, status: 201 }, async () => ['POST', `${P}/${of}`, body]);
    await eachRole(t, send, { allowed: managers, status: 200 }, async () => [
      ...(['POST', `${P}/${of}/preview`, { rule: body.rule }] as const),
    ]);
    await eachRole(t, send, { allowed: managers, status: 200 }, async () => ['PATCH', await make(), { name: 'B' }]);
    await eachRole(t, send, { allowed: managers, status: 204 }, async () => ['DELETE', await make()]);
    t.equal((await send('key', 'DELETE', `${P}/${of}/Gone1`)).status, 404);
    const ofOther = (await make()).replace('Proj1', 'Proj2');
    t.equal((await send('owner', 'PATCH', ofOther, { name: 'B' })).status, 404, 'of another project');
  }
});

t.test('what is wrong is named', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const folder = (await send('owner', 'POST', `${P}/groups`, { name: 'F', kind: 'folder' })).body.group.id as string;
  const inside = (await send('owner', 'POST', `${P}/groups`, { name: 'G', kind: 'folder', parentId: folder })).body
    .group;
  const manual = (await send('owner', 'POST', `${P}/groups`, { name: 'M', kind: 'manual' })).body.group.id as string;
  const wrong = { match: 'all', conditions: [{ field: 'colour', op: 'equals', value: 'red' }] };
  for (const [method, path, body, message] of [
    ['POST', 'groups', { name: 'A' }, /kind must be sent/],
    ['POST', 'groups', { name: 'A', kind: 'list' }, /'kind' must be one of folder, manual, rule/],
    ['POST', 'groups', { name: ' ', kind: 'folder' }, /'name' must be a line of text/],
    ['POST', 'groups', { name: 'A', kind: 'rule' }, /'rule' must be sent with kind rule/],
    ['POST', 'groups', { name: 'A', kind: 'rule', rule: wrong }, /'rule': unknown field "colour"; a field is one of/],
    [
      'POST',
      'groups',
      { name: 'A', kind: 'rule', rule: { ...SHOES, x: 1 } },
      /'rule.x' is not a field of this request/,
    ],
    ['POST', 'groups', { name: 'A', kind: 'manual', rule: SHOES }, /'rule' is for groups of kind rule, not manual/],
    ['POST', 'groups', { name: 'A', kind: 'folder', keywordIds: [] }, /'keywordIds' is for groups of kind manual/],
    ['POST', 'groups', { name: 'A', kind: 'manual', keywordIds: ['Gone1'] }, /'keywordIds': .* no keyword 'Gone1'/],
    ['POST', 'groups', { name: 'A', kind: 'manual', parentId: manual }, /'parentId' must be the id of a folder/],
    ['POST', 'groups', { name: 'A', kind: 'manual', position: 3 }, /'position' is not a field of this request/],
    ['PATCH', `groups/${folder}`, { parentId: folder }, /'parentId' must not be the folder itself/],
    ['PATCH', `groups/${folder}`, { parentId: inside.id }, /'parentId' must not be the folder itself/],
    ['PATCH', `groups/${folder}`, { kind: 'manual' }, /'kind' is not a field/],
    ['POST', 'groups/preview', { rule: wrong }, /'rule': unknown field "colour"/],
    ['POST', 'page-groups', { name: 'A' }, /rule must be sent/],
    ['POST', 'page-groups', { name: 'A', rule: SHOES }, /'rule': conditions of page groups have no field/],
    ['POST', 'page-groups', { name: 'A', rule: BLOG, pinnedUrls: ['blog'] }, /'pinnedUrls' must be at most 1000 paths/],
    ['POST', 'page-groups', { name: 'A', rule: { ...BLOG, x: 1 } }, /'rule.x' is not a field of this request/],
    ['POST', 'page-groups', { name: 'A', rule: { match: 'any', value: 1 } }, /'rule.value' is not a field/],
    ['POST', 'page-groups/preview', { rule: SHOES }, /'rule': conditions of page groups have no field/],
  ] as const) {
    const refused = await send('owner', method, `${P}/${path}`, body);
    t.match(refused, { status: 400, code: 'invalid_request', message }, `${path} ${JSON.stringify(body)}`);
  }
});

t.test('groups are kept by a rebuild', async (t) => {
  const { send, read, dataFolder } = await makeTeam(t, ROWS);
  await send('owner', 'POST', `${P}/groups`, { name: 'M', kind: 'manual', keywordIds: ['Kw001'] });
  await send('owner', 'POST', `${P}/page-groups`, { name: 'B', rule: BLOG });
  const { groups } = (await read(`${P}/groups`)).body;
  const { pageGroups } = (await read(`${P}/page-groups`)).body;
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'rebuild'), { code: 0 });
  t.strictSame((await read(`${P}/groups`)).body.groups, groups);
  t.strictSame((await read(`${P}/page-groups`)).body.pageGroups, pageGroups);
});
