// A question is answered if stored facts know the answer exactly, else refused with the nearest ones.
import t from 'tap';
import { parquetMetadata, parseNdjson, readArrow, readParquet } from '../formats/read.ts';
import { facts, keyword, makeWorld, PROJECT } from '../world.ts';

const group = (id: string, more = {}) => ({
  project_id: 'Proj1',
  id,
  name: `Group ${id}`,
  kind: 'manual',
  position: 1,
  ...more,
});
const member = (group_id: string, keyword_id: string) => ({ project_id: 'Proj1', group_id, keyword_id });

const world = await makeWorld(t, {
  projects: [PROJECT, { ...PROJECT, id: 'Empty' }],
  keywords: [keyword('Kw001', 'red shoes'), keyword('Kw002', 'blue shoes')],
  groups: [group('Gr001'), group('Gr002', { position: 2 })],
  group_members: [member('Gr001', 'Kw001'), member('Gr001', 'Kw002'), member('Gr002', 'Kw001')],
  site_daily: facts(
    'date device',
    ['2026-03-01', 'desktop', 10, 100, 100],
    ['2026-03-02', 'mobile', 20, 300, 600],
    ['2026-03-09', 'mobile', 5, 50, 50],
  ),
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-01', 'desktop', 3, 30, 30],
    ['Kw002', '2026-03-02', 'mobile', 2, 20, 0],
  ),
  query_daily: facts(
    'query date country',
    ['red shoes', '2026-03-01', 'usa', 3, 30, 30],
    ['blue shoes', '2026-03-02', 'deu', 4, 40, 0],
    ['socks', '2026-03-02', 'usa', 1, 10, 0],
  ),
  page_daily: facts('url date country', ['https://shop.example/a', '2026-03-01', 'usa', 9, 120, 0]),
  appearance_daily: facts('date appearance', ['2026-03-01', 'VIDEO', 1, 10, 0], ['2026-03-01', 'FAQ', 1, 10, 0]),
});
const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const asked = (question: object): string => `/projects/Proj1/query?q=${encodeURIComponent(JSON.stringify(question))}`;
const ask = (question: object) => world.get(asked({ range: DAYS, ...question }));
const post = (payload: string | undefined, more = {}, headers = {}) =>
  world.app.inject({
    method: 'POST',
    url: '/api/v1/projects/Proj1/query',
    headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json', ...headers },
    ...(payload === undefined ? {} : { payload }),
    ...more,
  });

t.test('rows, totals and what remains of the property', async (t) => {
  const { body } = await ask({ dimensions: ['query'], filters: [['ends_with', 'query', ['shoes']]] });
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    range: { ...DAYS, provisionalAfter: '2026-03-07' },
    grain: 'query_daily',
    aggregation: 'property',
    totals: { clicks: 7, impressions: 70, ctr: 0.1, position: 1.4 },
    remainder: { clicks: 23, impressions: 330, why: ['filtered', 'anonymised'] },
    paging: { total: 2, limit: 1000, offset: 0 },
    rows: [
      { query: 'blue shoes', clicks: 4, impressions: 40, ctr: 0.1, position: 1 },
      { query: 'red shoes', clicks: 3, impressions: 30, ctr: 0.1, position: 2 },
    ],
  });
});

t.test('a keyword of two groups counts in both rows, and once in the totals', async (t) => {
  const { body } = await ask({ dimensions: ['group'], metrics: ['clicks'] });
  t.strictSame(body.rows, [
    { group: { id: 'Gr001', name: 'Group Gr001' }, clicks: 5 },
    { group: { id: 'Gr002', name: 'Group Gr002' }, clicks: 3 },
  ]);
  t.strictSame(body.totals, { clicks: 5 });
  t.strictSame(body.remainder, { clicks: 25, impressions: 350, why: ['not_tracked', 'not_grouped'] });
});

t.test('pages are not added up to the property', async (t) => {
  const { body } = await ask({ range: { from: '2026-03-01', to: '2026-03-01' }, dimensions: ['page'] });
  t.match(body, { aggregation: 'page', remainder: { clicks: null, impressions: null, why: ['counted_by_page'] } });
});

t.test('parts of weeks at the edges of the range have their first day in it', async (t) => {
  const { body } = await ask({
    range: { from: '2026-03-01', to: '2026-03-10' },
    dimensions: ['week'],
    metrics: ['clicks'],
  });
  t.strictSame(body.rows, [
    { week: '2026-03-01', days: 1, clicks: 10 },
    { week: '2026-03-02', days: 7, clicks: 20 },
    { week: '2026-03-09', days: 2, clicks: 5 },
  ]);
});

t.test('what is not stored together is refused with the nearest questions', async (t) => {
  const refused = async (question: object, message: RegExp): Promise<object[]> => {
    const { status, body } = await ask(question);
    t.match({ status, ...body.error }, { status: 400, code: 'invalid_request', message }, JSON.stringify(question));
    const nearest = (body.nearest ?? []) as object[];
    for (const parts of nearest) {
      const whole = Object.entries({ range: DAYS, ...question, ...parts }).filter(([, part]) => part !== null);
      const next = await world.get(asked(Object.fromEntries(whole)));
      t.equal(next.status, 200, `${JSON.stringify(parts)} is answered: ${JSON.stringify(next.body.error)}`);
    }
    return nearest;
  };
  t.strictSame(
    await refused(
      { dimensions: ['query', 'device'] },
      /^dimensions: query by device is not stored\. .*keyword by device/,
    ),
    [{ dimensions: ['keyword', 'device'], filters: [], sort: null }],
  );
  t.strictSame(
    await refused(
      {
        dimensions: ['date', 'query'],
        filters: [
          ['not', ['equals', 'query', ['socks']]],
          ['equals', 'device', ['mobile']],
          ['or', ['equals', 'country', ['usa']], ['contains', 'query', ['red']]],
        ],
        sort: ['-query'],
      },
      /query by device by country is not stored \(no table has query and device\)/,
    ),
    [
      {
        dimensions: ['date', 'query'],
        filters: [
          ['not', ['equals', 'query', ['socks']]],
          ['or', ['equals', 'country', ['usa']], ['contains', 'query', ['red']]],
        ],
        sort: null,
      },
      {
        dimensions: ['date', 'keyword'],
        filters: [
          ['not', ['equals', 'keyword', ['socks']]],
          ['equals', 'device', ['mobile']],
        ],
        sort: null,
      },
    ],
  );
  t.strictSame(await refused({ dimensions: ['brand', 'country', 'date'] }, /brand by country is not stored\.$/), []);
  await refused({ dimensions: ['query', 'country', 'device'] }, /no table has query and device.*query by country/);
  t.strictSame(await refused({ filters: [['equals', 'appearance', ['VIDEO', 'FAQ']]] }, /appearances overlap/), [
    { dimensions: ['appearance'] },
  ]);
  await refused({ dimensions: ['brand'] }, /^range: the brand of 2 days \(2026-03-01 to 2026-03-02\) is not known/);
  t.match(
    await refused(
      { range: { from: '2026-03-01', to: '2026-03-10' }, dimensions: ['query'] },
      /the query of 2026-03-09 is not known\. Nearest questions: range from 2026-03-01 to 2026-03-08/,
    ),
    [{ range: { from: '2026-03-01', to: '2026-03-08' } }, { dimensions: ['date'] }],
  );
  const to = '2026-02-01';
  t.match(
    await refused(
      { dimensions: ['query'], compare: { from: '2026-03-09', to: '2026-03-10' } },
      /^compare: the query of 2026-03-09 is not known\. Nearest questions: the same without compare/,
    ),
    [{ compare: null }, {}],
  );
  t.strictSame(
    await refused({ dimensions: ['keyword'], range: { from: '2024-11-01', to } }, /keywords before 2024-11-10/),
    [{ range: { from: '2024-11-10', to } }],
  );
  await refused({ dimensions: ['keyword'], range: { from: '2024-01-01', to: '2024-02-01' } }, /keywords before/);
  t.strictSame(
    await refused({ dimensions: ['keyword'], compare: { from: '2024-01-01', to: '2024-01-02' } }, /^compare: keywords/),
    [{ compare: null }],
  );
  await refused({ filters: [['equals', 'group', ['Nope1']]] }, /no group 'Nope1'; it has Gr001 \(Group Gr001\), Gr002/);
});

t.test('values of filters are values, whatever they look like', async (t) => {
  for (const value of ["' or 1=1 --", '"; drop table x', '$files', '%', '_', '\\', "''"]) {
    for (const op of ['equals', 'contains', 'starts_with', 'ends_with']) {
      const { status, body } = await ask({ filters: [[op, 'query', [value]]], dimensions: ['query'] });
      t.strictSame([status, body.rows], [200, []], `${op} ${value}`);
    }
  }
});

t.test('POST answers as GET does, in each format; nothing else takes POST', async (t) => {
  const question = { range: DAYS, dimensions: ['device'], metrics: ['clicks'] };
  const get = await world.get(asked(question));
  const response = await post(JSON.stringify(question));
  t.strictSame([response.statusCode, JSON.parse(response.body)], [200, get.body]);
  t.equal(response.headers['etag'], get.headers['etag']);
  const unchanged = await world.app.inject({
    url: `/api/v1${asked(question)}`,
    headers: { authorization: `Bearer ${world.key}`, 'if-none-match': String(get.headers['etag']) },
  });
  t.strictSame([unchanged.statusCode, unchanged.body], [304, '']);
  t.equal(
    (await post(JSON.stringify(question), {}, { 'if-none-match': '*' })).statusCode,
    200,
    'POST: 304 is not for it',
  );
  const other = await post(JSON.stringify({ ...question, dimensions: [] }));
  t.not(other.body, response.body, 'another body is another question');
  const csv = await post(JSON.stringify(question), { url: '/api/v1/projects/Proj1/query.csv' });
  t.strictSame([csv.statusCode, csv.body], [200, 'device,clicks\r\nmobile,20\r\ndesktop,10\r\n']);
  const remainder = { clicks: 0, impressions: 0, why: [] };
  t.match(csv.headers, {
    'x-total-count': '2',
    'x-range-from': '2026-03-01',
    'x-remainder': JSON.stringify(remainder),
  });

  const refused = async (sent: ReturnType<typeof post>, status: number, message: RegExp): Promise<void> => {
    const { statusCode, body } = await sent;
    t.match([statusCode, (JSON.parse(body) as { error: { message: string } }).error.message], [status, message]);
  };
  await refused(post('{'), 400, /JSON/);
  await refused(post(undefined), 400, /q is empty/);
  await refused(post(JSON.stringify(question), { query: { q: '{}' } }), 400, /q is for GET/);
  await refused(post(' '.repeat(500_000)), 400, /too long/);
  await refused(post('{}', { url: '/api/v1/projects/Nope1/query' }), 404, /no such project/);
  await refused(post('{}', { url: '/api/v1/projects/Proj1/site' }), 404, /GET/);
  await refused(post('{}', {}, { authorization: 'Bearer ord_live_no' }), 401, /key/);
});

t.test('a file has all rows unless the question limits them', async (t) => {
  const MANY = 25_050;
  const texts = Array.from({ length: MANY }, (_, at) => `query ${String(at).padStart(5, '0')}`);
  const day = (date: string, more: number) => texts.map((query, at) => [query, date, 'usa', MANY - at + more, MANY, 0]);
  const { app, key } = await makeWorld(t, {
    site_daily: facts('date device', ['2026-03-01', 'mobile', 1, 1, 0], ['2026-03-02', 'mobile', 1, 1, 0]),
    query_daily: facts('query date country', ...day('2026-03-01', -1), ...day('2026-03-02', 0)),
  });
  const question = { range: { from: '2026-03-02', to: '2026-03-02' }, dimensions: ['query'], metrics: ['clicks'] };
  const linesOf = async (more: object): Promise<string[]> => {
    const { body, headers, statusCode } = await app.inject({
      url: `/api/v1/projects/Proj1/query.csv?q=${encodeURIComponent(JSON.stringify({ ...question, ...more }))}`,
      headers: { authorization: `Bearer ${key}` },
    });
    t.strictSame([statusCode, headers['x-total-count']], [200, String(MANY)]);
    return body.trimEnd().split('\r\n').slice(1);
  };
  const expected = texts.map((query, at) => `${query},${MANY - at}`);
  t.strictSame(await linesOf({}), expected);
  t.strictSame(await linesOf({ limit: 2 }), expected.slice(0, 2));
  t.strictSame(await linesOf({ offset: 25_000 }), expected.slice(25_000), 'a page without a limit is one of 1000');
  const inFormat = async (format: string): Promise<Buffer> => {
    const url = `/api/v1/projects/Proj1/query.${format}?q=${encodeURIComponent(JSON.stringify(question))}`;
    return (await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).rawPayload;
  };
  const rows = texts.map((query, at) => ({ query, clicks: MANY - at }));
  t.strictSame(parseNdjson((await inFormat('ndjson')).toString()), rows);
  t.strictSame(readArrow(await inFormat('arrow')).rows, rows);
  const file = await inFormat('parquet');
  t.strictSame((await readParquet(file)).rows, rows);
  const remainder = { clicks: 1 - (MANY * (MANY + 1)) / 2, impressions: 1 - MANY ** 2, why: ['anonymised'] };
  t.strictSame(JSON.parse((await parquetMetadata(file))['remainder']!), remainder, 'it tells what it lacks');
  const compared = await linesOf({ compare: { from: '2026-03-01', to: '2026-03-01' } });
  const before = compared.map((line) => line.split(',').slice(0, 4));
  t.strictSame(
    before,
    texts.map((query, at) => [query, String(MANY - at), String(MANY - at - 1), '1']),
  );
});

t.test('a list that is asked again has the metrics that are asked for', async (t) => {
  const rowsOf = async (more: object) =>
    (await ask({ dimensions: ['query', 'country'], ...more })).body.rows as object[];
  const all = [
    { query: 'blue shoes', country: 'deu', clicks: 4, impressions: 40, ctr: 0.1, position: 1 },
    { query: 'red shoes', country: 'usa', clicks: 3, impressions: 30, ctr: 0.1, position: 2 },
    { query: 'socks', country: 'usa', clicks: 1, impressions: 10, ctr: 0.1, position: 1 },
  ];
  t.strictSame(await rowsOf({}), all);
  t.strictSame(
    await rowsOf({ metrics: ['clicks'] }),
    all.map(({ query, country, clicks }) => ({ query, country, clicks })),
  );
  t.strictSame(await rowsOf({ include: { totals: false } }), all);
});

t.test('pages of rows, and a comparison', async (t) => {
  const page = await ask({ dimensions: ['query'], metrics: ['clicks'], sort: ['-query'], limit: 1, offset: 1 });
  t.strictSame(page.body.rows, [{ query: 'red shoes', clicks: 3 }]);
  t.strictSame(page.body.paging, { total: 3, limit: 1, offset: 1 });
  const beyond = await ask({ dimensions: ['query'], offset: 9 });
  t.match(beyond.body, { rows: [], paging: { total: 3 }, totals: { clicks: 8 } });
  const { body } = await ask({
    range: { from: '2026-03-02', to: '2026-03-02' },
    dimensions: ['date'],
    metrics: ['clicks'],
    compare: { from: '2026-03-01', to: '2026-03-01' },
  });
  t.strictSame(body.rows, [
    {
      date: '2026-03-02',
      clicks: 20,
      comparison: { clicks: 10 },
      change: { clicks: { difference: 10, ratio: 1 } },
      unsafe: {},
    },
  ]);
});

t.test('quality on request, totals unless they are not wanted', async (t) => {
  const { body } = await ask({ dimensions: ['device'], include: { totals: false, quality: true } });
  t.match(body.quality, { daysExpected: 2, daysStored: 2 });
  t.notOk('totals' in body);
});
