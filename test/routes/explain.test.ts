// An explanation of few clicks, or of a list at its cap, says so.
import t from 'tap';
import { connectedWorld } from '../fakes/connected.ts';
import type { Row } from '../world.ts';

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
