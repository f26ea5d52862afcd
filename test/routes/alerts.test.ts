// An alert names its page of the dashboard where the server knows its own address, and else what was loaded.
import t from 'tap';
import { makeWorld, type Row } from '../world.ts';

const alert = (last: number, more: Row = {}): Row => ({
  ...{ id: `00000000-0000-4000-8000-00000000000${last}`, project_id: 'Proj1', type: 'traffic_drop' },
  ...{ kind: 'Traffic drop', severity: 'warning', title: 'Title', body: '', created_at: '2026-03-05T12:00:00.123999Z' },
  ...more,
});
const alerts = [alert(2), alert(1, { url: 'https://app.example/1', resolved_at: '2026-02-28T23:59:59.999999Z' })];

t.test('the address of an alert, and its instants cut to milliseconds', async (t) => {
  for (const [environment, url] of [
    [{}, null],
    [
      { ORDINATE_PUBLIC_URL: 'https://reports.example' },
      `https://reports.example/app/p/Proj1/alerts?status=all&alert=${String(alerts[0]!['id'])}`,
    ],
  ] as const) {
    const { app, ask, key } = await makeWorld(t, { alerts }, { environment });
    t.match((await ask('/alerts')).body.alerts, [
      {
        url: 'https://app.example/1',
        createdAt: '2026-03-05T12:00:00.123Z',
        resolvedAt: '2026-02-28T23:59:59.999Z',
      },
      { url, createdAt: '2026-03-05T12:00:00.123Z', resolvedAt: null },
    ]);
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await app.inject({ url: '/api/v1/projects/Proj1/alerts.csv', headers });
    t.match(body, `,,,${url ?? ''},2026-03-05T12:00:00.123Z,\r\n`);
  }
});

t.test('since a day is from its first microsecond on', async (t) => {
  const at = (last: number, created_at: string): Row => alert(last, { created_at });
  const { ask } = await makeWorld(t, {
    alerts: [at(1, '2026-03-04T23:59:59.999999Z'), at(2, '2026-03-05T00:00:00Z'), at(3, '2026-03-05T00:00:00.000001Z')],
  });
  const { alerts: found } = (await ask('/alerts?since=2026-03-05')).body as { alerts: Row[] };
  t.strictSame(
    found.map(({ id }) => String(id).slice(-1)),
    ['3', '2'],
  );
});
