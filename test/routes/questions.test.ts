// A question has as many rows as there are, in each format, and as many values as its filters may have.
import t from 'tap';
import { parquetMetadata, parseNdjson, readArrow, readParquet } from '../formats/read.ts';
import { facts, makeWorld } from '../world.ts';

const MANY = 25_050;
const texts = Array.from({ length: MANY }, (_, at) => `query ${String(at).padStart(5, '0')}`);
const day = (date: string, more: number) => texts.map((query, at) => [query, date, 'usa', MANY - at + more, MANY, 0]);
const { app, ask, key } = await makeWorld(t, {
  site_daily: facts('date device', ['2026-03-01', 'mobile', 1, 1, 0], ['2026-03-02', 'mobile', 1, 1, 0]),
  query_daily: facts('query date country', ...day('2026-03-01', -1), ...day('2026-03-02', 0)),
});
const question = { range: { from: '2026-03-02', to: '2026-03-02' }, dimensions: ['query'], metrics: ['clicks'] };
const send = async (format: string, more: object = {}) => {
  const q = encodeURIComponent(JSON.stringify({ ...question, ...more }));
  const url = `/api/v1/projects/Proj1/query.${format}?q=${q}`;
  return app.inject({ url, headers: { authorization: `Bearer ${key}` } });
};

t.test('a file has all rows unless the question limits them; a page without a limit is one of 1000', async (t) => {
  const lines = texts.map((query, at) => `${query},${MANY - at}`);
  for (const [more, expected] of [
    [{}, lines],
    [{ limit: 2 }, lines.slice(0, 2)],
    [{ offset: 25_000 }, lines.slice(25_000)],
  ] as const) {
    const { body, headers } = await send('csv', more);
    t.strictSame([headers['x-total-count'], body.trimEnd().split('\r\n').slice(1)], [String(MANY), expected]);
  }
  const compared = await send('csv', { compare: { from: '2026-03-01', to: '2026-03-01' } });
  t.strictSame(
    compared.body
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',').slice(0, 4).join()),
    texts.map((query, at) => `${query},${MANY - at},${MANY - at - 1},1`),
  );
});

t.test('each format has them, and tells what it lacks', async (t) => {
  const rows = texts.map((query, at) => ({ query, clicks: MANY - at }));
  t.strictSame(parseNdjson((await send('ndjson')).body), rows);
  t.strictSame(readArrow((await send('arrow')).rawPayload).rows, rows);
  const { rawPayload, headers } = await send('parquet');
  t.strictSame((await readParquet(rawPayload)).rows, rows);
  const remainder = { clicks: 1 - (MANY * (MANY + 1)) / 2, impressions: 1 - MANY ** 2, why: ['anonymised'] };
  const told = [(await parquetMetadata(rawPayload))['remainder'], headers['x-remainder']];
  t.strictSame(told, Array(2).fill(JSON.stringify(remainder)));
});

t.test(
  'a condition on a metric keeps the rows on its side of a number, which totals, count and remainder are of',
  async (t) => {
    const found = async (...filters: readonly unknown[]): Promise<unknown> => {
      const { body } = await ask(`/query?q=${encodeURIComponent(JSON.stringify({ ...question, filters }))}`);
      const { rows, totals, paging, remainder } = body as Record<'rows' | 'totals' | 'paging' | 'remainder', unknown>;
      const clicks = (rows as { clicks: number }[]).map((row) => row.clicks);
      return { clicks, rows: (paging as { total: number }).total, totals, why: (remainder as { why: unknown }).why };
    };
    const of = (...clicks: readonly number[]) => ({
      clicks,
      rows: clicks.length,
      totals: { clicks: clicks.reduce((sum, one) => sum + one, 0) },
      why: ['filtered', 'anonymised'],
    });
    t.strictSame(await found(['lte', 'clicks', [2]]), of(2, 1));
    t.strictSame(await found(['lt', 'clicks', [2]]), of(1));
    t.strictSame(await found(['gte', 'clicks', [MANY - 1]]), of(MANY, MANY - 1));
    t.strictSame(await found(['gt', 'clicks', [MANY - 1]]), of(MANY));
    t.strictSame(await found(['eq', 'clicks', [7]]), of(7));
    t.strictSame(await found(['neq', 'clicks', [7]], ['lt', 'clicks', [9]], ['gt', 'clicks', [5]]), of(8, 6));
    t.strictSame(await found(['not', ['or', ['gt', 'clicks', [2]], ['lt', 'ctr', [2 / MANY]]]]), of(2));
    t.strictSame(await found(['lt', 'clicks', [3]], ['contains', 'query', ['QUERY 25049']]), of(1));
    t.strictSame(await found(['lt', 'clicks', [3]], ['contains', 'query', ['QUERY'], { caseSensitive: true }]), of());
  },
);

t.test('filters have at most 1000 values, and a body at most 100,000 characters', async (t) => {
  const statusOf = async (count: number): Promise<number> => {
    const filters = [['equals', 'query', Array.from({ length: count }, (_, at) => `q${at}`)]];
    return (await ask(`/query?q=${encodeURIComponent(JSON.stringify({ ...question, filters }))}`)).status;
  };
  t.strictSame([await statusOf(1000), await statusOf(1001)], [200, 400]);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const long = { method: 'POST', url: '/api/v1/projects/Proj1/query', headers, payload: ' '.repeat(500_000) } as const;
  t.match((await app.inject(long)).json(), { error: { code: 'invalid_request', message: /too long/ } });
});
