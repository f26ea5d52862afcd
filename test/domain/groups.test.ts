// Groups and folders contain exactly the keywords that they define, each once.
import fc from 'fast-check';
import t from 'tap';
import {
  type Group,
  type Membership,
  matchGroup,
  selectKeywords,
  withDescendants,
} from '../../server/domain/groups.ts';
import { KEY_PATTERN, newKey, newShortId, newUuid, shortIdNumber } from '../../server/domain/ids.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../../server/domain/instants.ts';
import { estimateIntent, INTENTS } from '../../server/domain/intent.ts';
import { resultOf } from '../steps.ts';

const group = (id: string, kind: Group['kind'], parentId: string | null, rule: Group['rule'] = null): Group => ({
  id,
  name: id,
  kind,
  parentId,
  position: 0,
  pinned: false,
  rule,
});
const idsOf = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id).sort();

const KEYWORDS = ['a', 'b', 'c', 'd'].map((id, index) => ({
  id,
  index,
  query: `query ${id}`,
  intent: 'commercial',
  source: 'manual',
}));

const NOTHING = { clicks: 0, impressions: 0, sumPosition: 0 };

t.test('a folder includes all groups below it, another group only itself', async (t) => {
  const [top, inner, manual, rule, beside] = [
    group('top', 'folder', null),
    group('inner', 'folder', 'top'),
    group('manual', 'manual', 'inner'),
    group('rule', 'rule', 'top'),
    group('beside', 'manual', null),
  ] as const;
  const all = [beside, rule, manual, inner, top];
  t.strictSame(idsOf(withDescendants(top, all)), ['inner', 'manual', 'rule', 'top']);
  t.strictSame(idsOf(withDescendants(inner, all)), ['inner', 'manual']);
  t.strictSame(idsOf(withDescendants(manual, all)), ['manual']);
  t.strictSame(idsOf(withDescendants(beside, all)), ['beside']);
});

t.test('any tree, and folders that contain themselves', async (t) => {
  const [a, b] = [group('a', 'folder', 'b'), group('b', 'folder', 'a')];
  t.strictSame(idsOf(withDescendants(a, [a, b])), ['a', 'b']);
  const self = group('self', 'folder', 'self');
  t.strictSame(idsOf(withDescendants(self, [self])), ['self']);
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(15)), { minLength: 1, maxLength: 16 }), (parents) => {
      const all = parents.map((parent, index) =>
        group(`g${index}`, 'folder', parent === null ? null : `g${parent % parents.length}`),
      );
      const parentOf = (each: Group | undefined): Group | undefined => all.find(({ id }) => id === each?.parentId);
      const isBelow = (each: Group): boolean => {
        let at: Group | undefined = each;
        // no path to the root is longer than the number of groups
        for (let steps = 0; at !== undefined && at.id !== 'g0' && steps < all.length; steps++) at = parentOf(at);
        return at?.id === 'g0';
      };
      const found = withDescendants(all[0]!, all);
      return new Set(found).size === found.length && idsOf(found).join() === idsOf(all.filter(isBelow)).join();
    }),
    { numRuns: 300 },
  );
});

t.test('members and matches, in the order given, each once', async (t) => {
  const membership: Membership = {
    keywordsOf: new Map([
      ['one', ['d', 'b']],
      ['two', ['b', 'gone']],
    ]),
    groupsOf: new Map(),
  };
  const indexes = new Map(KEYWORDS.map(({ id, index }) => [shortIdNumber(id), index]));
  const selected = (...groups: Group[]): string => {
    const matches = groups.map((each) => resultOf(matchGroup(each, { keywords: KEYWORDS, indexes, membership })));
    const measuresOf = ({ id }: { id: string }) => ({ ...NOTHING, clicks: id === 'a' ? 5 : 0 });
    return resultOf(selectKeywords(KEYWORDS, matches, measuresOf))
      .map(({ id }) => id)
      .join(' ');
  };
  const clicked = group('rule', 'rule', null, {
    match: 'all',
    conditions: [{ field: 'clicks', op: 'gt', value: 4 }],
  });
  const named = group('name', 'rule', null, {
    match: 'any',
    conditions: [{ field: 'query', op: 'ends_with', value: 'B' }],
  });
  t.equal(selected(group('one', 'manual', null)), 'b d');
  t.equal(selected(group('one', 'manual', null), group('two', 'manual', null)), 'b d');
  t.equal(selected(clicked), 'a');
  t.equal(selected(named, group('two', 'manual', null), clicked), 'a b');
  t.equal(selected(group('hollow', 'folder', null)), '');
  t.equal(selected(), '');
  const either = group('either', 'rule', null, {
    match: 'any',
    conditions: [...clicked.rule!.conditions, ...named.rule!.conditions],
  });
  t.equal(selected(either), 'a b');
  t.equal(selected(group('both', 'rule', null, { ...either.rule!, match: 'all' })), '');
});

t.test('intent: an estimate for every text', async (t) => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  fc.assert(fc.property(fc.string({ unit }), (query) => INTENTS.includes(estimateIntent(query))));
  fc.assert(
    fc.property(fc.constantFrom('buy shoes', 'how to sew', 'best shoes', 'shop login', 'blue'), (query) => {
      return estimateIntent(query) === estimateIntent(query.toUpperCase());
    }),
  );
  const examples = {
    'how to tie shoes': 'informational',
    'what is a welt': 'informational',
    'best running shoes': 'commercial',
    'a vs b': 'commercial',
    'buy red shoes': 'transactional',
    'shoes price': 'transactional',
    'acme login': 'navigational',
    'red shoes': 'unclassified',
    '': 'unclassified',
    // a part of a word does not match
    showroom: 'unclassified',
  };
  for (const [query, intent] of Object.entries(examples)) t.equal(estimateIntent(query), intent, query);
});

t.test('ids', async (t) => {
  const keys = Array.from({ length: 200 }, newKey);
  t.ok(keys.every((key) => /^ord_live_[A-Za-z0-9]{32}$/.test(key) && KEY_PATTERN.test(key)));
  t.equal(new Set(keys).size, 200);
  t.ok(new Set(keys.join('')).size >= 62, 'letters of both cases and digits');
  t.ok(Array.from({ length: 200 }, newShortId).every((id) => /^[A-Za-z0-9]{5}$/.test(id)));
  t.match(newUuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  fc.assert(fc.property(fc.string(), (text) => KEY_PATTERN.test(text) === /^ord_live_[A-Za-z0-9]{32}$/.test(text)));
  for (const near of [`${keys[0]}\n`, ` ${keys[0]}`, `${keys[0]}a`, keys[0]!.slice(1)]) t.notOk(KEY_PATTERN.test(near));
});

t.test('instants: microseconds in, milliseconds out', async (t) => {
  t.equal(isoInstant(1_767_225_599_999_999), '2025-12-31T23:59:59.999Z');
  t.equal(isoInstant(0), '1970-01-01T00:00:00.000Z');
  t.equal(isoInstant(-1), '1969-12-31T23:59:59.999Z');
  t.equal(isoInstantOrNull(null), null);
  t.equal(isoInstantOrNull(1000), '1970-01-01T00:00:00.001Z');
  const milliseconds = fc.integer({ min: Date.UTC(1900), max: Date.UTC(2200) });
  fc.assert(
    fc.property(milliseconds, fc.nat(999), (ms, micro) => {
      return isoInstant(toMicroseconds(ms) + micro) === new Date(ms).toISOString();
    }),
  );
});
