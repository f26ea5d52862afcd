// The alerts endpoint lists a project's alerts newest first, filtered by status, date and limit.
import t from 'tap';
import { keyword, makeWorld, ofProject, PROJECT, type Row, refusedFor } from '../world.ts';

const uuid = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-0000000000ab`;

const alert = (n: number, created_at: string, more: Row = {}): Row => ({
  id: uuid(n),
  project_id: 'Proj1',
  type: 'traffic_drop',
  kind: 'Traffic drop',
  severity: 'warning',
  title: `Title ${n}`,
  body: '',
  created_at,
  ...more,
});

const NOON = '2026-03-05T12:00:00Z';

const { ask, get } = await makeWorld(t, {
  projects: [PROJECT, { ...PROJECT, id: 'Many1' }, { ...PROJECT, id: 'Empty' }],
  keywords: [keyword('kwOne', 'one')],
  alerts: [
    alert(7, '2026-03-01T00:00:00Z'),
    alert(3, '2026-02-28T23:59:59.999999Z', { resolved_at: '2026-03-02T03:04:05.678Z', severity: 'info' }),
    alert(2, NOON),
    alert(1, NOON, {
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'critical',
      body: 'one fell',
      date: '2026-03-04',
      keyword_id: 'kwOne',
      url: 'https://app.example/alerts/1',
      resolved_at: NOON,
    }),
    alert(4, '2025-01-01T00:00:00Z'),
    ...ofProject(
      'Many1',
      Array.from({ length: 501 }, (_, index) => alert(1000 + index, NOON)),
    ),
  ],
});

async function idsOf(query: string): Promise<string> {
  const { body } = await ask(`/alerts?${query}`);
  return (body.alerts as { id: string }[]).map(({ id }) => Number(id.slice(0, 8))).join(' ');
}

t.test('newest first, alerts of the same instant by id', async (t) => {
  const { status, body } = await ask('/alerts');
  t.equal(status, 200);
  t.strictSame(body.project, { id: 'Proj1', domain: 'shop.example' });
  t.strictSame(Object.keys(body), ['project', 'alerts']);
  t.strictSame(body.alerts.slice(0, 2), [
    {
      id: uuid(1),
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'critical',
      title: 'Title 1',
      body: 'one fell',
      date: '2026-03-04',
      keywordId: 'kwOne',
      url: 'https://app.example/alerts/1',
      createdAt: '2026-03-05T12:00:00.000Z',
      resolvedAt: '2026-03-05T12:00:00.000Z',
    },
    {
      id: uuid(2),
      type: 'traffic_drop',
      kind: 'Traffic drop',
      severity: 'warning',
      title: 'Title 2',
      body: '',
      date: null,
      keywordId: null,
      url: null,
      createdAt: '2026-03-05T12:00:00.000Z',
      resolvedAt: null,
    },
  ]);
  t.match(body.alerts[3], { createdAt: '2026-02-28T23:59:59.999Z', resolvedAt: '2026-03-02T03:04:05.678Z' });
  t.equal(await idsOf(''), '1 2 7 3 4');
  t.strictSame((await get('/projects/Empty/alerts')).body, {
    project: { id: 'Empty', domain: 'shop.example' },
    alerts: [],
  });
});

t.test('url: the alert in the dashboard, where the server knows its address', async (t) => {
  const environment = { ORDINATE_PUBLIC_URL: 'https://reports.example' };
  const named = await makeWorld(
    t,
    {
      alerts: [alert(1, NOON, { url: 'https://app.example/alerts/1' }), alert(2, NOON)],
    },
    { environment },
  );
  const { body } = await named.ask('/alerts');
  t.strictSame(
    (body.alerts as { url: string }[]).map(({ url }) => url),
    ['https://app.example/alerts/1', `https://reports.example/app/p/Proj1/alerts?status=all&alert=${uuid(2)}`],
  );
  const csv = await named.app.inject({
    url: '/api/v1/projects/Proj1/alerts.csv',
    headers: { authorization: `Bearer ${named.key}` },
  });
  t.match(csv.body, `,https://reports.example/app/p/Proj1/alerts?status=all&alert=${uuid(2)},`);
});

t.test('status', async (t) => {
  t.equal(await idsOf('status=all'), '1 2 7 3 4');
  t.equal(await idsOf('status=open'), '2 7 4');
  t.equal(await idsOf('status=resolved'), '1 3');
});

t.test('since: created on or after that day', async (t) => {
  t.equal(await idsOf('since=2026-03-01'), '1 2 7');
  t.equal(await idsOf('since=2026-02-28'), '1 2 7 3');
  t.equal(await idsOf('since=2026-03-05'), '1 2');
  t.equal(await idsOf('since=2026-03-06'), '');
  t.equal(await idsOf('since=1000-01-01'), '1 2 7 3 4');
  t.equal(await idsOf('since=9999-12-31'), '');
  t.equal(await idsOf('since=2026-03-01&status=open&limit=1'), '2');
});

t.test('limit: 100 by default, 500 at most; there is no offset', async (t) => {
  t.equal(await idsOf('limit=1'), '1');
  t.equal(await idsOf('limit=3&offset=1'), '1 2 7');
  const count = async (query: string) => (await get(`/projects/Many1/alerts${query}`)).body.alerts.length as number;
  t.equal(await count(''), 100);
  t.equal(await count('?limit=500'), 500);
  const { body } = await get('/projects/Many1/alerts?limit=2');
  t.match(body.alerts, [{ id: uuid(1000) }, { id: uuid(1001) }]);
});

t.test('invalid parameters', async (t) => {
  for (const limit of ['0', '501', '1.0', '']) refusedFor(t, await ask(`/alerts?limit=${limit}`), 'limit', limit);
  for (const status of ['closed', 'Open', '']) refusedFor(t, await ask(`/alerts?status=${status}`), 'status', status);
  for (const since of ['2026-02-30', '2026-3-1', '2026-03-01T00:00:00Z', '']) {
    refusedFor(t, await ask(`/alerts?since=${since}`), 'since', since);
  }
});
