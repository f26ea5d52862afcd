// Alerts are kept when retention drops the facts that opened them.
import t from 'tap';
import { listEvaluatedAlerts } from '../../server/catalog/alerts.ts';
import { setKeepDays } from '../../server/catalog/workspaces.ts';
import { addDays } from '../../server/domain/dates.ts';
import { applyRetention } from '../../server/maintenance/retention.ts';
import { evaluate, factsOf, KEYWORDS, projectUntil, START } from '../alerts/world.ts';
import { makeLazyWorld } from '../world.ts';

const NOW = Date.parse('2027-01-06T12:00:00Z');

t.test('alerts stay when the facts that opened them are dropped, open ones too', async (t) => {
  const last = addDays(START, 249);
  const rows = { projects: [projectUntil(last)], keywords: KEYWORDS, ...factsOf(0, 249) };
  const world = await makeLazyWorld(t, rows, { now: NOW });
  const options = { now: () => NOW };
  // The first evaluation begins six weeks before its last day.
  await evaluate(world, { ...options, asOf: addDays(START, 100) });
  await evaluate(world, options);
  const stored = () => listEvaluatedAlerts(world.catalog, 'Proj1');
  const alerts = await stored();
  t.ok(alerts.length >= 3);
  t.ok(alerts.every(({ date }) => date < '2026-09-01'));
  t.ok(alerts.some(({ resolvedAt }) => resolvedAt === null) && alerts.some(({ resolvedAt }) => resolvedAt !== null));
  await setKeepDays(world.catalog, 'acme', 140);
  t.match(await applyRetention(world, options), [{ project: 'Proj1', keptFrom: '2026-08-01' }]);
  t.strictSame(await stored(), alerts);
  await world.load({ projects: [projectUntil(addDays(START, 250))], ...factsOf(250, 250) });
  await evaluate(world, options);
  t.strictSame(await stored(), alerts, 'the next evaluation keeps them');
});
