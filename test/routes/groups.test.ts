// A group has the keywords of its rule, its members or all groups below it: each once, in the order of queries.
import t from 'tap';
import { facts, keyword, makeWorld, type Row } from '../world.ts';

const group = (id: string, parent_id: string | null, kind: string, rule: unknown = null): Row => ({
  ...{ project_id: 'Proj1', id, name: id, kind, parent_id, position: 1, rule },
});
const rule = (match: string, ...conditions: (readonly [string, string, string | number])[]) => ({
  match,
  conditions: conditions.map(([field, op, value]) => ({ field, op, value })),
});

t.test('groups and folders', async (t) => {
  const { ask } = await makeWorld(t, {
    keywords: ['delta', 'Alpha', 'charlie', 'bravo', 'gone'].map((query, at) =>
      keyword(`Kw00${at}`, query, { archived: query === 'gone' }),
    ),
    keyword_daily: facts(
      'keyword_id date device',
      ['Kw000', '2026-03-05', 'mobile', 5, 10, 0],
      ['Kw001', '2026-03-05', 'mobile', 5, 50, 0],
      ['Kw002', '2026-03-05', 'mobile', 1, 10, 0],
      ['Kw003', '2026-03-05', 'desktop', 9, 90, 0],
    ),
    // Folders come before and after what is in them.
    groups: [
      group('inner', 'outer', 'folder'),
      group('membr', 'inner', 'manual'),
      group('texts', 'outer', 'rule', rule('any', ['query', 'contains', 'ALPHA'], ['query', 'equals', 'delta'])),
      group('outer', null, 'folder'),
      group('hollo', null, 'folder'),
      group('both0', null, 'rule', rule('all', ['clicks', 'gte', 5], ['impressions', 'lt', 50])),
      group('any00', null, 'rule', rule('any', ['clicks', 'gte', 9], ['query', 'starts_with', 'C'])),
      group('allof', null, 'rule', rule('all', ['clicks', 'gte', 5], ['query', 'contains', 'l'])),
    ],
    group_members: ['Kw003', 'Kw000', 'Kw004'].map((keyword_id) => ({
      ...{ project_id: 'Proj1', group_id: 'membr', keyword_id },
    })),
  });
  for (const [query, queries] of [
    ['membr', 'bravo delta'],
    ['texts', 'Alpha delta'],
    ['inner', 'bravo delta'],
    ['outer', 'Alpha bravo delta'],
    ['hollo', ''],
    ['both0', 'delta'],
    ['any00', 'bravo charlie'],
    ['any00&device=mobile', 'charlie'],
    ['allof', 'Alpha delta'],
    ['allof&to=2026-03-04', ''],
    ['outer&limit=2&offset=1', 'bravo delta'],
  ] as const) {
    const { body } = await ask(`/keywords?group=${query}`);
    t.equal((body.keywords as Row[]).map((row) => row['query']).join(' '), queries, query);
  }
});
