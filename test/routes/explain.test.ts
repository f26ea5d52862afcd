// An explanation of few clicks, or of a list at its cap, says so, and a note on its days is a change of it.
import t from 'tap';
import { connectedWorld } from '../fakes/connected.ts';
import { facts, makeWorld, type Row, WORKSPACE } from '../world.ts';

t.test('few clicks, and a list at its cap', async (t) => {
  const environment = { ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' };
  const { ask, google } = await connectedWorld(t, { environment });
  google.pages = Array.from({ length: 25_001 }, (_, index) => ({
    ...{ key: `/${index}`, clicks: 50_000 - index, impressions: 100_000, position: 3 },
  }));
  const { source, unsafe } = (await ask('/explain?from=2026-02-01&to=2026-02-28')).body as Record<string, Row>;
  t.match(source, { kind: 'gsc', capped: true, comparison: { kind: 'gsc' } });
  t.strictSame(unsafe, [
    { what: 'change', reason: 'missing_days' },
    { what: 'rows', reason: 'cut_off' },
    { what: 'change', reason: 'weekday_mix' },
    { what: 'change', reason: 'low_base' },
  ]);
});

t.test('a new note changes the entity tag, and a plan may begin in the other range', async (t) => {
  const days = ['2026-02-01', '2026-02-20', '2026-03-05'];
  const world = await makeWorld(t, {
    workspaces: [{ ...WORKSPACE, keyword_history_days: 30 }],
    site_daily: facts('date device', ...days.map((day) => [day, 'mobile', 9, 90, 90])),
  });
  const path = '/explain?by=keyword&period=28d';
  const { body, headers } = await world.ask(path);
  t.strictSame(body.unsafe, [
    { what: 'change', reason: 'provisional' },
    { what: 'change', reason: 'missing_days' },
    { what: 'rows', reason: 'missing_days' },
    { what: 'change', reason: 'low_base' },
  ]);
  const again = async (): Promise<number> => {
    const known = { authorization: `Bearer ${world.key}`, 'if-none-match': String(headers['etag']) };
    return (await world.app.inject({ url: `/api/v1/projects/Proj1${path}`, headers: known })).statusCode;
  };
  const at = '2026-03-02T10:00:00Z';
  const note = { id: '5e1f0000-0000-4000-8000-000000000005', workspace_id: 'acme', project_id: 'Proj1', text: 'New' };
  const more = { scope: 'project', category: 'content', author: 'Team', created_at: at, updated_at: at };
  t.equal(await again(), 304);
  await world.load({ notes: [{ ...note, ...more, date: '2026-02-20' }] });
  t.equal(await again(), 200);
});
