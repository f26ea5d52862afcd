// The groups endpoint lists the keyword groups of a project in their order.
import t from 'tap';
import { keyword, makeWorld, ofProject, PROJECT, type Row } from '../world.ts';

const RULE = {
  match: 'any',
  conditions: [
    { field: 'query', op: 'contains', value: 'shoes' },
    { field: 'position', op: 'lte', value: 10.5 },
  ],
};

const group = (id: string, kind: string, position: number, more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: `Group ${id}`,
  kind,
  position,
  ...more,
});
const member = (group_id: string, keyword_id: string): Row => ({ project_id: 'Proj1', group_id, keyword_id });

t.test('in rank-tracker order: position, then id by its bytes', async (t) => {
  const { ask, get } = await makeWorld(t, {
    projects: [PROJECT, { ...PROJECT, id: 'Other' }, { ...PROJECT, id: 'Empty' }],
    keywords: [
      keyword('kwCcc', 'c'),
      keyword('kwAaa', 'a'),
      keyword('kwBbb', 'b', { archived: true }),
      ...ofProject('Other', [keyword('kwAaa', 'a')]),
    ],
    groups: [
      group('zLast', 'manual', 2),
      group('aaaaa', 'manual', 1),
      group('BBBBB', 'folder', 1, { pinned: true }),
      group('first', 'rule', -1, { rule: RULE, parent_id: 'BBBBB' }),
      ...ofProject('Other', [group('other', 'manual', 1)]),
    ],
    group_members: [
      member('aaaaa', 'kwCcc'),
      member('aaaaa', 'kwBbb'),
      member('aaaaa', 'kwAaa'),
      ...ofProject('Other', [member('other', 'kwAaa')]),
    ],
  });
  const { status, body } = await ask('/groups');
  t.equal(status, 200);
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    groups: [
      {
        id: 'first',
        name: 'Group first',
        kind: 'rule',
        parentId: 'BBBBB',
        position: -1,
        pinned: false,
        rule: RULE,
        keywordIds: null,
      },
      {
        id: 'BBBBB',
        name: 'Group BBBBB',
        kind: 'folder',
        parentId: null,
        position: 1,
        pinned: true,
        rule: null,
        keywordIds: null,
      },
      {
        id: 'aaaaa',
        name: 'Group aaaaa',
        kind: 'manual',
        parentId: null,
        position: 1,
        pinned: false,
        rule: null,
        // by id, archived keywords left out
        keywordIds: ['kwAaa', 'kwCcc'],
      },
      {
        id: 'zLast',
        name: 'Group zLast',
        kind: 'manual',
        parentId: null,
        position: 2,
        pinned: false,
        rule: null,
        keywordIds: [],
      },
    ],
  });
  t.strictSame((await ask('/groups?limit=0&from=never')).body, body, 'it has no parameters');
  t.strictSame((await get('/projects/Empty/groups')).body, {
    project: { id: 'Empty', domain: 'shop.example' },
    groups: [],
  });
});
