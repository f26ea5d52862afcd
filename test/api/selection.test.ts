// A filter or order that cannot be understood is refused with what is possible, and texts have one order.
import fc from 'fast-check';
import t from 'tap';
import { compareTexts } from '../../server/domain/texts.ts';
import { facts, keyword, makeWorld, type Row } from '../world.ts';

const { ask } = await makeWorld(t, {
  keywords: [keyword('Kw001', 'uses 50%'), keyword('Kw002', 'Red: socks; blue')],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-09', 'mobile', 0, 30, 1000],
    ['Kw002', '2026-03-09', 'mobile', 1, 3, 3],
  ),
});

t.test('a value may have colons, semicolons and what expressions know; ratios are compared unrounded', async (t) => {
  for (const [filter, expected] of [
    ['query:equals:red: socks\\; blue', ['Kw002']],
    ['query:ends_with:socks\\; blue;clicks:eq:1', ['Kw002']],
    ['query:matches:^uses \\d+%$', ['Kw001']],
    // 1 / 3 is 0.3333 in the answer and a little more in truth.
    ['ctr:gt:0.3333', ['Kw002']],
    ['ctr:eq:0.3333', []],
  ] as const) {
    const { body } = await ask(`/keywords?filter=${encodeURIComponent(filter)}`);
    t.strictSame(
      (body.keywords as Row[]).map(({ id }) => id),
      expected,
      filter,
    );
  }
});

t.test('what cannot be understood is named, with what is possible', async (t) => {
  const refused = async (path: string, words: RegExp) => {
    const { status, body } = await ask(path);
    t.match({ status, ...body.error }, { status: 400, code: 'invalid_request', message: words }, path);
  };
  const many = Array.from({ length: 51 }, () => 'clicks:gt:1').join(';');
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['url:contains:x', /filter: unknown field "url"; a field is one of query, /],
    ['branded:eq:true', /unknown field "branded"; a field is one of query, intent, source, clicks/],
    ['query:like:x', /unknown operator "like".* one of contains, .*matches/],
    ['clicks:contains:1', /unknown operator "contains".* one of eq, /],
    ['clicks:gt:1e3', /must be a number, not "1e3"/],
    ['clicks:gt:', /must be a number/],
    ['query:matches:(', /RE2/],
    ['query:matches:(?<n>a)', /filter: "\(\?<n>a\)" has \(\?<n>, which not every engine knows/],
    ['query:matches:(\\pL*\\pN?){900}z', /filter: .*together may have 1000; use a smaller count than \{900\}/],
    ['query:matches:a{600};query:matches:b{600}', /filter: .*together may have 1000; .* or fewer expressions/],
    ['source:equals:robots', /unknown source "robots"; it is one of suggested, manual, import/],
    ['query', /field:operator:value/],
    ['clicks:gt:1;', /field:operator:value/],
    ['{"match":"some","conditions":[]}', /'all' or 'any'/],
    ['{"match":"all","conditions":[]}', /no conditions/],
    ['{"match":"all","conditions":[7]}', /a condition must be an object/],
    ['{broken', /JSON/],
    ['constructor:eq:1', /unknown field/],
    [many, /more than 50/],
    [`query:contains:${'x'.repeat(4096)}`, /at most 4096/],
  ];
  for (const [text, words] of wrong) await refused(`/keywords?filter=${encodeURIComponent(text)}`, words);
  await refused('/queries?filter=branded:contains:true', /unknown operator "contains" for branded.*eq, neq/);
  await refused('/queries?filter=tracked:eq:yes', /true or false, not "yes"/);
  await refused('/queries?filter=', /^filter is empty/);
  await refused('/pages?sort=query', /sort: unknown field "query"; a field is one of url, clicks/);
  await refused('/pages?sort=-clicks,clicks', /sort.* twice/);
  await refused('/pages?sort=--clicks', /unknown field "-clicks"/);
});

t.test('texts are compared by their UTF-8 bytes', (t) => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('a', 'b', '\ue000', '\uffff', '🥾', 'é', '\ud7ff'),
      fc.string({ unit: 'grapheme', maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(text, text, (a, b) => Math.sign(compareTexts(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  t.end();
});
