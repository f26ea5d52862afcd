// Intents are estimated from whole words, ids and keys cannot be guessed, and instants are cut to milliseconds.
import fc from 'fast-check';
import t from 'tap';
import { KEY_PATTERN, newKey, newShortId, newUuid } from '../../server/domain/ids.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../../server/domain/instants.ts';
import { estimateIntent, INTENTS } from '../../server/domain/intent.ts';

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
