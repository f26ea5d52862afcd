// The page groups endpoint lists the page group definitions of a project in their order.
import t from 'tap';
import { makeWorld, ofProject, PROJECT, type Row } from '../world.ts';

const SHOES = { match: 'any', conditions: [{ op: 'starts_with', value: '/shoes/' }] };
const EVERY_OPERATOR = {
  match: 'all',
  conditions: ['contains', 'not_contains', 'equals', 'not_equals', 'starts_with', 'ends_with', 'matches'].map((op) => ({
    op,
    value: '/a',
  })),
};

const pageGroup = (id: string, position: number, rule: unknown, more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: `Pages ${id}`,
  position,
  rule,
  ...more,
});

t.test('by position, then id; definitions only', async (t) => {
  const { ask, get } = await makeWorld(t, {
    projects: [PROJECT, { ...PROJECT, id: 'Empty' }, { ...PROJECT, id: 'Other' }],
    page_groups: [
      pageGroup('pageB', 1, SHOES, { pinned_urls: ['/zoo', '/about us', '/é'] }),
      pageGroup('pageA', 1, EVERY_OPERATOR),
      pageGroup('pageC', 0, SHOES, { pinned_urls: [] }),
      ...ofProject('Other', [pageGroup('pageD', 0, SHOES)]),
    ],
  });
  const { status, body } = await ask('/page-groups?unknown=1');
  t.equal(status, 200);
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    pageGroups: [
      { id: 'pageC', name: 'Pages pageC', position: 0, rule: SHOES, pinnedUrls: [] },
      { id: 'pageA', name: 'Pages pageA', position: 1, rule: EVERY_OPERATOR, pinnedUrls: [] },
      { id: 'pageB', name: 'Pages pageB', position: 1, rule: SHOES, pinnedUrls: ['/zoo', '/about us', '/é'] },
    ],
  });
  t.strictSame((await get('/projects/Empty/page-groups')).body, {
    project: { id: 'Empty', domain: 'shop.example' },
    pageGroups: [],
  });
});
