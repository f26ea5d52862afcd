// A server with Trino answers like one without it, and with 503 while Trino is down.
import t from 'tap';
import { EVERYTHING } from '../load/snapshots.ts';
import { makeWorld } from '../world.ts';
import { skip, trinoWorld } from './trino-world.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read all kinds of files. */
const ASKED = [
  `/site?${RANGE}`,
  `/site?${RANGE}&country=usa`,
  `/breakdowns?${RANGE}`,
  `/keywords?${RANGE}`,
  `/keywords?${RANGE}&daily=1`,
  `/keywords?${RANGE}&device=desktop&daily=1`,
  `/pages?${RANGE}`,
  `/queries?${RANGE}&country=usa`,
];

t.test('a server answers the same with both engines', { skip }, async (t) => {
  const environment = { ORDINATE_ENGINE: 'trino', ORDINATE_CACHE: '0MB' };
  const { world } = await trinoWorld(t, EVERYTHING, { environment });
  const local = await makeWorld(t, EVERYTHING);
  for (const path of ASKED) {
    const [found, expected] = [await world.ask(path), await local.ask(path)];
    t.equal(expected.status, 200, path);
    t.strictSame([found.status, found.body], [expected.status, expected.body], path);
  }
  const portfolio = `/portfolio?${RANGE}&quality=1`;
  t.strictSame((await world.get(portfolio)).body, (await local.get(portfolio)).body);
});

t.test('Trino that is away is 503 with Retry-After, and the log has the reason', { skip }, async (t) => {
  // Nothing listens there.
  const away = { ORDINATE_ENGINE: 'trino', ORDINATE_TRINO: 'http://127.0.0.1:9/hive/ordinate' };
  const { world } = await trinoWorld(t, EVERYTHING, { environment: away });
  for (const path of [`/site?${RANGE}`, `/pages?${RANGE}`]) {
    const { status, headers, body } = await world.ask(path);
    t.strictSame([status, headers['retry-after']], [503, '60'], path);
    t.match(body, { error: { code: 'unavailable', message: /the query engine does not answer/ } });
  }
  t.match(world.log.join(''), /fetch failed/);
});

t.test('with auto, few bytes are read by DuckDB', { skip }, async (t) => {
  const away = { ORDINATE_ENGINE: 'auto', ORDINATE_TRINO: 'http://127.0.0.1:9/hive/ordinate' };
  const { world } = await trinoWorld(t, EVERYTHING, { environment: away });
  t.equal((await world.ask(`/site?${RANGE}`)).status, 200, 'without Trino');
});
