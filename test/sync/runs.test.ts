// A run stores all days of all tables, and a failed one leaves the earlier data as it was.
import t from 'tap';
import { type Day, eachDay } from '../../server/domain/dates.ts';
import { keyword, type Row } from '../world.ts';
import { type SyncWorld, sameFacts, syncWorld } from './sync-world.ts';

const DAY = 86_400_000;
/** Their tables take as long as all others together. */
const NO_KEYWORDS = { tracked: 0 };

/** Days of requests for rows, without the questions that a run begins with. */
function askedDays(world: SyncWorld): Day[] {
  return world.provider
    .asked()
    .flatMap(({ request: { from, to, dimensions } }) => (dimensions.join() === 'date' ? [] : eachDay(from, to)));
}

/** The days or months of rows, each once. */
function daysOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map(({ date, month }) => String(date ?? month)))].sort();
}

t.test('a first run brings all days of all tables, and the state of the project', async (t) => {
  const world = await syncWorld(t, { archive: 'queries,pages' });
  const result = await world.sync();
  t.match(result, { outcome: 'done', reason: null, windows: 3 });
  await sameFacts(t, world);
  t.match(await world.project(), {
    syncStatus: 'ok',
    syncedThrough: '2026-03-15',
    provisionalAfter: '2026-03-12',
    historyBackfilling: false,
    lastSyncedAt: world.clock * 1000,
  });
  t.equal(result.requests, world.provider.asked('all').length, 'each request is counted');
  const line = world.lines.find((found) => found['project'] === 'Proj1');
  const { project, reason: _, ...counts } = result;
  t.match(line, { project, ...counts });

  const before = await world.project();
  world.provider.forget();
  t.match(await world.sync(), { outcome: 'done' });
  const { factsRevision, entitiesRevision } = await world.project();
  t.equal(factsRevision, before.factsRevision, 'nothing changed, so nothing is published');
  t.equal(entitiesRevision, before.entitiesRevision);
  t.equal(askedDays(world).sort()[0], '2026-03-13', 'only days that still change are asked for again');

  for (const hours of [7, 110]) {
    world.clock += hours * 3_600_000;
    world.provider.forget();
    t.match(await world.sync(), { outcome: 'done' });
    await sameFacts(t, world);
    t.ok(
      askedDays(world).every((day) => day >= '2026-03-13'),
      'no final day is asked for again',
    );
  }
  t.ok((await world.project()).factsRevision > before.factsRevision);
  t.equal((await world.project()).provisionalAfter, '2026-03-17');
});

t.test('a keyword without rows: that its days are fetched is news for answers', async (t) => {
  const world = await syncWorld(t, { tracked: 2, from: '2026-02-20', since: '2026-02-20' });
  await world.sync();
  await world.load({ keywords: [keyword('kw999', 'nobody searches for this')] });
  const read = async () => {
    const { headers, body } = await world.ask('/keywords?period=7d&compare=previous');
    const rows = body.keywords as { id: string; unsafe: Record<string, string[]> }[];
    const lacking = rows.filter(({ unsafe }) => unsafe['clicks']?.includes('missing_days'));
    return { etag: headers['etag'], lacking: lacking.map(({ id }) => id) };
  };
  const before = await read();
  t.strictSame(before.lacking, ['kw999']);
  const { factsRevision } = await world.project();
  await world.sync();
  t.equal((await world.project()).factsRevision, factsRevision, 'no facts change');
  const after = await read();
  t.strictSame(after.lacking, []);
  t.not(after.etag, before.etag);
  await world.sync();
  t.strictSame(await read(), after);
});

t.test('the first window is there within 60 requests, whatever comes after it', async (t) => {
  const world = await syncWorld(t, { from: null, archive: 'queries,pages' });
  await world.sync({ maxWindows: 1 });
  t.ok(world.provider.asked().length <= 60);
  t.match(await world.project(), { syncStatus: 'ok', syncedThrough: '2026-03-15', historyBackfilling: true });
  t.equal(new Set((await world.stored('site_daily')).map(({ date }) => date)).size, 28);
});

t.test('a run goes on behind the last publication', async (t) => {
  const world = await syncWorld(t, { archive: 'pages', from: '2026-01-25', ...NO_KEYWORDS });
  for (let turn = 0; ; turn++) {
    const published = new Set((await world.stored('site_daily')).map(({ date }) => date as Day));
    const { outcome } = await world.sync({ maxWindows: 1, staleAfter: DAY });
    const again = askedDays(world).filter((day) => day < '2026-03-03' && published.has(day));
    if (turn !== 1) t.strictSame(again, [], 'no published day is asked for again');
    world.provider.forget();
    if (outcome === 'done') break;
    t.ok(turn < 10);
  }
  await sameFacts(t, world);
});

t.test('a new keyword gets the days that it lacks, and nothing else is asked for', async (t) => {
  const world = await syncWorld(t, { tracked: 2 });
  await world.sync();
  const added = world.queries.slice(2, 5).map((query, index) => keyword(`new0${index}`, query.toUpperCase()));
  await world.load({ keywords: added });
  world.provider.forget();
  t.match(await world.sync(), { outcome: 'done' });
  await sameFacts(t, world);
  const older = world.provider
    .asked()
    .filter(({ request: { from, dimensions } }) => from < '2026-03-13' && dimensions.join() !== 'date');
  t.equal(older.length, 2, 'one window of all days, a request for each of the two tables');
  t.ok(older.every(({ request }) => request.dimensions.includes('query')));
  await world.load({ keywords: [{ ...added[0]!, archived: true }] });
  world.clock += 4 * DAY;
  await world.sync();
  const kept = (await world.stored('keyword_daily')).filter(({ keyword_id }) => keyword_id === 'new00');
  t.ok(kept.length > 0, 'rows of an archived keyword stay');
  t.ok(
    kept.every(({ date }) => (date as Day) <= '2026-03-15'),
    'and there are no more',
  );
  await world.load({ keywords: [added[0]!] });
  world.clock += DAY;
  await world.sync();
  await sameFacts(t, world);
});

t.test('rows of a keyword that is removed while they are fetched are left out, and the run goes on', async (t) => {
  const world = await syncWorld(t, { tracked: 3 });
  await world.sync();
  const [removed, ...left] = world.queries.slice(0, 3).map((query, index) => keyword(`fresh${index}`.slice(-5), query));
  await world.load({ keywords: [removed!, ...left] }, { replace: true });
  let isRemoved = false;
  world.provider.onRequest = async ({ request }) => {
    if (isRemoved || request?.dimensions.includes('query') !== true) return;
    isRemoved = true;
    await world.load({ keywords: left }, { replace: true });
  };
  world.clock += 7 * 3_600_000;
  t.match(await world.sync(), { outcome: 'done', reason: null });
  t.equal(isRemoved, true);
  const stored = await world.stored('keyword_daily');
  t.ok(
    stored.some((row) => row['keyword_id'] === left[0]!['id']),
    'others are stored',
  );
  t.notOk(stored.some((row) => row['keyword_id'] === removed!['id']));
});

t.test('changed brand terms fetch brand_daily alone, at once for all days', async (t) => {
  const world = await syncWorld(t, NO_KEYWORDS);
  await world.sync();
  await world.load({ projects: [{ ...(await world.row()), brand_terms: ['zzz', world.queries[3]!.split(' ')[0]!] }] });
  world.provider.forget();
  t.match(await world.sync({ staleAfter: DAY }), { outcome: 'done', windows: 1 });
  await sameFacts(t, world);
  t.ok(world.provider.asked().length <= 6);
});

t.test('what a failure leaves is what was there, and the project says so', async (t) => {
  const world = await syncWorld(t, NO_KEYWORDS);
  await world.sync({ maxWindows: 1 });
  const before = await world.project();
  world.provider.take('sc-domain:shop.example');
  t.match(await world.sync(), { outcome: 'access-lost', reason: /no longer grants/ });
  t.match(await world.project(), { syncStatus: 'failed', factsRevision: before.factsRevision });
  world.provider.give('sc-domain:shop.example');
  t.match(await world.sync(), { outcome: 'done' });
  t.equal((await world.project()).syncStatus, 'ok');
  await sameFacts(t, world);
});

t.test('a table that fails is left out, and comes later', async (t) => {
  const world = await syncWorld(t, NO_KEYWORDS);
  const which = ({ request }: { request?: { dimensions: readonly string[] } }): boolean =>
    request?.dimensions.join() === 'date,country';
  world.provider.fail(
    { status: 400, body: { error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } } },
    { which },
  );
  t.match(await world.sync(), { outcome: 'table-failed', reason: /country_daily/ });
  t.match(await world.project(), { syncStatus: 'warning', syncedThrough: '2026-03-15' });
  t.strictSame(await world.stored('country_daily'), []);
  world.provider.heal();
  t.match(await world.sync({ staleAfter: DAY }), { outcome: 'table-failed' }, 'not at once');
  world.clock += 2 * 3_600_000;
  t.match(await world.sync(), { outcome: 'done' });
  await sameFacts(t, world);
});

t.test('days of countries become months when they are old', async (t) => {
  const world = await syncWorld(t, {
    environment: { ORDINATE_COUNTRY_DAYS: '20' },
    from: '2026-01-15',
    ...NO_KEYWORDS,
  });
  t.match(await world.sync(), { outcome: 'done' });
  // 20 days before 2026-03-15 is in February: January is the last whole month before it.
  const daily = await world.stored('country_daily');
  const wanted = await world.expected();
  t.strictSame(daysOf(daily)[0], '2026-02-01');
  const months = await world.stored('country_monthly');
  const sums = (rows: readonly { clicks?: unknown }[]): number =>
    rows.reduce((sum, { clicks }) => sum + Number(clicks), 0);
  t.equal(sums(months), sums(wanted.country_daily.filter(({ date }) => (date as Day) < '2026-02-01')));
  const clicksOf = (rows: readonly Row[]): Map<unknown, number> =>
    new Map([...Map.groupBy(rows, (row) => row['country'])].map(([name, of]) => [name, sums(of)]));
  const january = wanted.country_daily.filter(({ date }) => (date as Day) < '2026-02-01');
  t.same(clicksOf(months), clicksOf(january), 'so few countries stand by name');
  t.ok(months.length <= 21 && months.every(({ month }) => month === '2026-01-01'));
  const { body } = await world.ask('/breakdowns?from=2026-01-20&to=2026-03-01');
  t.equal(body.range.countryMonthlyThrough, '2026-01-31');

  world.searches.change('2026-01-20');
  await world.sync({ forcedDays: ['2026-01-20'] });
  const again = (await world.expected()).country_daily.filter(({ date }) => (date as Day) < '2026-02-01');
  t.equal(sums(await world.stored('country_monthly')), sums(again), 'a day of a month that changed');

  world.clock += 20 * DAY;
  await world.sync();
  t.equal(daysOf(await world.stored('country_daily'))[0], '2026-03-01');
  t.strictSame(daysOf(await world.stored('country_monthly')), ['2026-01-01', '2026-02-01']);
});
