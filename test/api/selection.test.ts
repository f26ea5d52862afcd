// Filters, sort orders and totals of lists are correct on every endpoint that has them.
import fc from 'fast-check';
import t from 'tap';
import { compareTexts } from '../../server/domain/texts.ts';
import { facts, keyword, makeWorld, type Row } from '../world.ts';

/** Query, clicks, impressions, sum of positions. */
const ROWS = [
  ['acme boots', 9, 90, 180],
  ['blue shoes; cheap', 5, 50, 950],
  ['red shoes', 5, 40, 80],
  ['Red: socks', 1, 3, 3],
  ['uses 50%', 0, 30, 1000],
  ['without data', 0, 0, 0],
] as const;

const { ask } = await makeWorld(t, {
  keywords: ROWS.map(([query], index) =>
    keyword(`Kw00${index}`, query, { source: index % 2 === 0 ? 'manual' : 'suggested' }),
  ),
  keyword_daily: facts(
    'keyword_id date device',
    ...ROWS.map(([, ...sums], index) => [`Kw00${index}`, '2026-03-09', 'mobile', ...sums]),
  ),
  query_daily: facts('date query country', ...ROWS.map(([query, ...sums]) => ['2026-03-09', query, 'gbr', ...sums]), [
    '2026-03-09',
    'untracked shoes',
    'gbr',
    2,
    25,
    30,
  ]),
  page_daily: facts(
    'date url country',
    ...ROWS.map(([, ...sums], n) => ['2026-03-09', `https://shop.example/p/${n}`, 'gbr', ...sums]),
  ),
});

async function named(path: string): Promise<string[]> {
  const { status, body } = await ask(path);
  t.equal(status, 200, `${path} ${JSON.stringify(body.error ?? '')}`);
  const rows = (body.keywords ?? body.queries ?? body.pages) as Row[];
  t.ok(body.paging.total >= rows.length);
  return rows.map((row) => String(row['query'] ?? row['url']));
}
const filter = (kind: string, text: string) => named(`/${kind}?filter=${encodeURIComponent(text)}`);
const sort = (kind: string, text: string) => named(`/${kind}?sort=${text}`);

for (const kind of ['keywords', 'queries']) {
  t.test(`${kind}: a filter leaves the rows that match`, async (t) => {
    t.strictSame(await filter(kind, 'query:contains:SHOES;clicks:gte:5'), ['blue shoes; cheap', 'red shoes']);
    t.strictSame(await filter(kind, 'query:ends_with:shoes\\; cheap'), ['blue shoes; cheap'], 'a semicolon in a value');
    t.strictSame(await filter(kind, 'query:equals:red: socks'), ['Red: socks'], 'only two colons divide');
    t.strictSame(await filter(kind, 'query:matches:^uses \\d+%$'), ['uses 50%']);
    t.strictSame(await filter(kind, 'ctr:eq:0.1;position:lte:3'), ['acme boots']);
    t.strictSame((await filter(kind, 'position:gt:0')).includes('without data'), false, 'empty ratios match nothing');
    t.strictSame((await filter(kind, 'ctr:neq:0')).includes('without data'), false);
    // 1 / 3 is 0.3333 in the answer and a little more in truth.
    t.strictSame(await filter(kind, 'ctr:gt:0.3333'), ['Red: socks']);
    t.strictSame(await filter(kind, 'ctr:eq:0.3333'), []);
    const any = {
      match: 'any',
      conditions: [
        { field: 'query', op: 'starts_with', value: 'acme' },
        { field: 'impressions', op: 'lt', value: 1 },
      ],
    };
    t.strictSame(await filter(kind, JSON.stringify(any)), ['acme boots', 'without data']);
  });

  t.test(`${kind}: rows are sorted as asked, then as they are without`, async (t) => {
    const plain = (await named(`/${kind}`)).filter((text) => text !== 'untracked shoes');
    const sorted = async (text: string) => (await sort(kind, text)).filter((name) => name !== 'untracked shoes');
    t.strictSame((await sorted('-clicks')).slice(0, 3), ['acme boots', 'blue shoes; cheap', 'red shoes']);
    t.strictSame(await sorted('query'), ROWS.map(([query]) => query).toSorted(compareTexts));
    t.strictSame(
      await sorted('-query'),
      ROWS.map(([query]) => query).toSorted((a, b) => compareTexts(b, a)),
    );
    t.strictSame((await sorted('clicks,-impressions')).slice(0, 2), ['uses 50%', 'without data']);
    t.equal((await sorted('ctr')).at(-1), 'without data', 'empty ratios come last');
    t.equal((await sorted('-position')).at(-1), 'without data', 'in either direction');
    t.strictSame((await sorted('-position')).slice(0, 2), ['uses 50%', 'blue shoes; cheap']);
    const zero = (await sorted('clicks')).slice(0, 2);
    t.strictSame(
      zero,
      plain.filter((text) => zero.includes(text)),
      'ties keep the order',
    );
  });
}

t.test('fields of their own: of keywords, queries and pages', async (t) => {
  t.strictSame(await filter('keywords', 'source:equals:manual;clicks:gt:0'), ['acme boots', 'red shoes']);
  t.strictSame(await filter('queries', 'branded:eq:true'), ['acme boots']);
  t.strictSame(await filter('queries', 'branded:neq:true;tracked:eq:false'), ['untracked shoes']);
  t.strictSame((await sort('queries', '-branded,tracked')).slice(0, 2), ['acme boots', 'untracked shoes']);
  t.strictSame(await filter('pages', 'url:ends_with:/p/3'), ['https://shop.example/p/3']);
  t.strictSame((await sort('pages', '-url')).length, ROWS.length);
});

t.test('total counts what the filter leaves; pages, groups and formats go with it', async (t) => {
  for (const kind of ['keywords', 'queries']) {
    const page = await ask(`/${kind}?filter=query:contains:shoes&sort=-query&limit=1&offset=1`);
    t.match(page.body.paging, { total: kind === 'keywords' ? 2 : 3, limit: 1, offset: 1 }, kind);
    const text = kind === 'keywords' ? 'blue shoes; cheap' : 'red shoes';
    t.match(page.body[kind], [{ query: text }]);
  }
  t.strictSame((await ask('/queries?filter=clicks:gt:100')).body.queries, []);
  const daily = (await ask('/keywords?filter=query:equals:red shoes&daily=1')).body.keywords;
  t.match(daily, [{ query: 'red shoes', daily: [{ date: '2026-03-09', clicks: 5 }] }]);
  const whole = await named('/queries');
  t.equal(whole.length, ROWS.length + 1, 'the list itself is as it was');
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
