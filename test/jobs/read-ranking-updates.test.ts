// Ranking updates are those of the feed as it was last read, and answers name the day that they are complete for.
import t, { type Test } from 'tap';
import { readRankingUpdates } from '../../server/jobs/read-ranking-updates.ts';
import { type FakeRankingFeed, type Incident, ranked, rankingFeed } from '../fakes/ranking-feed.ts';
import { parseCsv } from '../formats/read.ts';
import { facts, makeWorld, ofProject, PROJECT, type Row } from '../world.ts';

const SYNCED = { synced_through: '2026-09-28', provisional_after: '2026-09-28' };
const PAGE = 'https://shop.example/boots';
const DAYS = ['2026-06-25', '2026-08-30', '2026-09-01', '2026-09-24', '2026-09-28'];
const site_daily = facts('date device', ...DAYS.map((day) => [day, 'mobile', 9, 90, 300]));
const TABLES = {
  projects: [
    { ...PROJECT, ...SYNCED },
    { ...PROJECT, id: 'Later', ...SYNCED, synced_through: '2026-09-30' },
    { ...PROJECT, id: 'Empty', synced_through: null, provisional_after: null },
  ],
  site_daily: [...site_daily, ...ofProject('Later', site_daily)],
  site_daily_discover: facts('date device', ...DAYS.map((day) => [day, 'unknown', 2, 40, 0])),
  site_daily_bing: facts('date device', ...DAYS.map((day) => [day, 'unknown', 1, 10, 0])),
  page_daily: facts('date url country', ...DAYS.map((day) => [day, PAGE, 'gbr', 9, 90, 300])),
};

const AUGUST = ranked('aug', 'August 2026 spam update', '2026-08-18T16:00:00+00:00', '2026-08-21T05:00:00+00:00');
const SEPTEMBER = ranked('sep', 'September 2026  spam update ', '2026-09-24T06:15:00+00:00');
const JUNE = ranked('jun', 'June 2026 Spam Update', '2026-06-24T16:00:00Z', '2026-06-28T01:00:00Z');
const DISCOVER = ranked('dis', 'September 2026 Discover update', '2026-09-01T17:00:00Z', '2026-09-09T17:00:00.5Z');
const INCIDENTS: readonly Incident[] = [SEPTEMBER, DISCOVER, AUGUST, JUNE];

const source = (id: string): string => `https://status.search.google.com/incidents/${id}`;
const LISTED = 'https://status.search.google.com/products/rGHU1u87FJnkP6W2GwMi/history';
const ROLLING = { title: 'September 2026 spam update', from: '2026-09-23', to: null, source: source('sep') };
const IN_AUGUST = { title: 'August 2026 spam update', from: '2026-08-18', to: '2026-08-20', source: source('aug') };
const IN_DISCOVER = {
  ...{ title: 'September 2026 Discover update', from: '2026-09-01', to: '2026-09-09', source: source('dis') },
};

async function rankedWorld(t: Test, incidents: unknown = INCIDENTS, environment: NodeJS.ProcessEnv = {}) {
  const feed = await rankingFeed(t, incidents);
  const clock = { now: Date.parse('2026-10-02T12:00:00Z') };
  const world = await makeWorld(t, TABLES, {
    now: () => clock.now,
    environment: { ORDINATE_RANKING_UPDATES: feed.url, ...environment },
  });
  const { settings, catalog } = world;
  const warnings: (Row & { readonly message: string })[] = [];
  const warn = (fields: unknown, message?: string): void =>
    void warnings.push({ ...(fields as Row), message: message ?? '' });
  const log = { debug() {}, info() {}, warn, error: warn };
  /** One run of the job. */
  const read = (signal = new AbortController().signal, more: Partial<typeof settings> = {}) =>
    readRankingUpdates.run(
      { settings: { ...settings, ...more }, catalog, log, now: () => clock.now, report() {} },
      signal,
    );
  /** What `quality` says of some days. */
  const known = async (from: string, to: string, more = '', project = 'Proj1') => {
    const { body } = await world.get(`/projects/${project}/site?from=${from}&to=${to}&quality=1${more}`);
    const { rankingUpdates, rankingUpdatesThrough } = body.quality;
    return { rankingUpdates, rankingUpdatesThrough };
  };
  return { ...world, feed, clock, read, known, warnings };
}

const titlesOf = ({ rankingUpdates }: { rankingUpdates: readonly Row[] }) => rankingUpdates.map(({ title }) => title);

t.test('until the feed was read, updates are those of the list, which names its last day', async (t) => {
  const { known, ask } = await rankedWorld(t);
  t.strictSame(await known('2026-06-20', '2026-06-28'), {
    rankingUpdates: [{ title: 'June 2026 spam update', from: '2026-06-24', to: '2026-06-26', source: LISTED }],
    rankingUpdatesThrough: '2026-06-28',
  });
  t.strictSame(await known('2026-08-20', '2026-09-28'), { rankingUpdates: [], rankingUpdatesThrough: '2026-06-30' });
  t.match((await ask('/explain?from=2026-09-24&to=2026-09-28')).body, {
    rankingUpdates: [],
    rankingUpdatesThrough: '2026-06-30',
  });
});

t.test('what the feed says is in all answers, beside the numbers and without a change of them', async (t) => {
  const { read, known, ask, get, app, key } = await rankedWorld(t);
  const explain = '/explain?from=2026-09-24&to=2026-09-28&compare=2026-08-20..2026-09-01&quality=1';
  const effect = `/effects?date=2026-08-25&page=${encodeURIComponent(PAGE)}&before=28d`;
  const before = [(await ask(explain)).body, (await ask(effect)).body];
  t.strictSame(await read(), { updates: 4, changed: 4 });

  const june = { title: 'June 2026 Spam Update', from: '2026-06-24', to: '2026-06-27', source: source('jun') };
  const may = { ...(await known('2026-05-01', '2026-06-01')).rankingUpdates[0] };
  t.equal(may['title'], 'May 2026 core update', 'the list fills in');
  for (const [days, updates, through, more = '', project = 'Proj1'] of [
    ['2026-08-20..2026-09-28', [IN_AUGUST, ROLLING], '2026-09-28'],
    // Days of a roll-out are Pacific, and it is still rolling out.
    ['2026-08-21..2026-09-22', [], '2026-09-22'],
    ['2026-09-28..2026-09-28', [ROLLING], '2026-09-28'],
    ['2026-09-20..2026-10-01', [ROLLING], '2026-09-28'],
    ['2026-06-27..2026-06-27', [june], '2026-06-27'],
    ['2026-09-01..2026-09-28', [IN_DISCOVER, ROLLING], '2026-09-28', '&type=discover'],
    ['2026-09-01..2026-09-28', [], null, '&engine=bing'],
    ['2026-09-20..2026-09-30', [ROLLING], null, '', 'Empty'],
  ] as [string, Row[], string | null, string?, string?][]) {
    const [from, to] = days.split('..') as [string, string];
    const expected = { rankingUpdates: updates, rankingUpdatesThrough: through };
    t.strictSame(await known(from, to, more, project), expected, `${days}${more} ${project}`);
  }

  const { rankingUpdates, rankingUpdatesThrough, quality, ...explained } = (await ask(explain)).body;
  t.strictSame([rankingUpdates, rankingUpdatesThrough], [[IN_AUGUST, ROLLING], '2026-09-28'], 'of both ranges');
  t.strictSame(quality.rankingUpdates, [ROLLING], 'of the first one');
  const { rankingUpdates: _, rankingUpdatesThrough: __, quality: ___, ...unread } = before[0];
  t.strictSame(explained, unread, 'parts are as before');
  const { events, rankingUpdatesThrough: through, ...judged } = (await ask(effect)).body;
  const told = [IN_AUGUST, ROLLING].map((update) => ({ kind: 'ranking', ...update }));
  const { events: noEvents, rankingUpdatesThrough: listed, ...unjudged } = before[1];
  t.strictSame([events, through, judged], [told, '2026-09-28', unjudged]);
  t.strictSame([noEvents, listed], [[], '2026-06-30']);

  const range = 'from=2026-09-20&to=2026-09-28&quality=1';
  const { body } = await get(`/portfolio?${range}`);
  for (const { quality: each } of body.projects) t.strictSame(each.rankingUpdates, [ROLLING]);
  const headers = { authorization: `Bearer ${key}` };
  const csv = await app.inject({ method: 'GET', url: `/api/v1/portfolio.csv?${range}`, headers });
  const [names, ...rows] = parseCsv(csv.body);
  const column = (name: string) => rows.map((row) => row[names!.indexOf(name)]);
  t.strictSame(column('quality_rankingUpdatesThrough'), ['', '2026-09-28', '2026-09-28']);
  t.strictSame(column('quality_rankingUpdates'), Array(3).fill(JSON.stringify([ROLLING])));
});

t.test('cached answers follow the feed, and stay where it says nothing new of reported days', async (t) => {
  const { read, clock, feed, get } = await rankedWorld(t);
  const tagOf = async (project: string): Promise<unknown> =>
    (await get(`/projects/${project}/site?from=2026-09-20&to=2026-09-30&quality=1`)).headers['etag'];
  const tags = () => Promise.all(['Proj1', 'Later', 'Empty'].map(tagOf));
  const changed = async (): Promise<readonly boolean[]> => {
    const old = await tags();
    await read();
    return (await tags()).map((tag, at) => tag !== old[at]);
  };
  clock.now = Date.parse('2026-09-30T12:00:00Z');
  t.strictSame(await changed(), [true, true, true]);
  t.strictSame(await changed(), [false, false, false], 'once a day');
  t.equal(feed.requests, 1);
  clock.now = Date.parse('2026-10-01T06:59:00Z');
  await read();
  t.equal(feed.requests, 1, 'the same day in the Pacific');
  clock.now = Date.parse('2026-10-01T07:00:00Z');
  t.strictSame(await changed(), [false, true, false], 'one more of its reported days is complete');
  clock.now = Date.parse('2026-10-02T12:00:00Z');
  t.strictSame(await changed(), [false, false, false]);
  clock.now = Date.parse('2026-10-03T12:00:00Z');
  feed.incidents = [{ ...SEPTEMBER, end: '2026-10-02T20:00:00Z' }, AUGUST, JUNE, DISCOVER];
  t.strictSame(await changed(), [true, true, true], 'the update has ended');
});

t.test('incidents that are no updates, or say too little, are left out; unknown fields do no harm', async (t) => {
  const { affected_products: _, ...bare } = ranked('bare', 'July 2026 core update', '2026-07-02T12:00:00Z');
  const { begin: __, ...beginless } = AUGUST;
  const odd = { updates: 'none', affected_products: [null, { title: 'Ranking' }], uri: 'https://elsewhere.example/' };
  const { read, known, warnings } = await rankedWorld(t, [
    ...[null, 7, 'text', [], {}],
    { ...ranked('index', 'Indexing update', '2026-08-01T12:00:00Z'), affected_products: [{ title: 'Indexing' }] },
    ranked('outage', 'Issue with ranking in some languages', '2026-08-02T12:00:00Z'),
    { ...bare, end: '' },
    { ...ranked('odd', 'August 2026 core update', '2026-08-10T08:00:00-07:00', '2026-08-11T08:00:00-07:00'), ...odd },
    // From here on each says too little.
    { ...beginless, id: 'none' },
    ...['soon', '2026-13-40T00:00:00Z', '2026-08-01', 1786000000, null].map((begin, n) => ({
      ...AUGUST,
      id: `b${n}`,
      begin,
    })),
    { ...AUGUST, id: 'backwards', end: '2026-08-01T00:00:00Z' },
    { ...AUGUST, id: 'ended', end: 'yes' },
    { ...AUGUST, id: 5 },
    { ...AUGUST, id: 'long', external_desc: `${'x'.repeat(200)} update` },
    { ...AUGUST, id: 'untitled', external_desc: null },
  ]);
  t.strictSame(await read(), { updates: 2, changed: 2 });
  t.match(warnings, [{ unusable: 11 }]);
  t.strictSame((await known('2026-07-01', '2026-09-28')).rankingUpdates, [
    { title: 'July 2026 core update', from: '2026-07-02', to: null, source: source('bare') },
    { title: 'August 2026 core update', from: '2026-08-10', to: '2026-08-11', source: LISTED },
  ]);
});

/** Faults of the feed, with what the log says of them. */
const FAULTS: Readonly<Record<string, readonly [(feed: FakeRankingFeed, elsewhere: FakeRankingFeed) => void, RegExp]>> =
  {
    'an error': [(feed) => (feed.answer = (_, response) => void response.writeHead(503).end('[]')), /status 503/],
    'a redirect': [
      (feed, { url }) => (feed.answer = (_, response) => void response.writeHead(302, { location: url }).end()),
      /cannot be reached/,
    ],
    'a page of a proxy': [(feed) => (feed.incidents = '<html>sign in</html>'), /not a JSON array/],
    'another document': [(feed) => (feed.incidents = { incidents: INCIDENTS }), /not a JSON array/],
    'a cut answer': [(feed) => (feed.incidents = JSON.stringify(INCIDENTS).slice(0, -9)), /not a JSON array/],
    'nothing of ranking': [(feed) => (feed.incidents = []), /no incidents of ranking/],
    'more than is read': [(feed) => (feed.incidents = `["${'x'.repeat(11_000_000)}"]`), /more than 10000000 bytes/],
    'a broken connection': [(feed) => (feed.answer = ({ socket }) => void socket.destroy()), /cannot be reached/],
    silence: [(feed) => (feed.answer = () => {}), /did not answer within 0\.1 seconds/],
  };

t.test('what the feed takes back goes; a feed that cannot be read changes nothing, and is read again', async (t) => {
  const { read, clock, feed, known, warnings } = await rankedWorld(t);
  const elsewhere = await rankingFeed(t, [ranked('forged', 'Forged update', '2026-09-01T00:00:00Z')]);
  await read();
  const before = await known('2026-06-01', '2026-09-28');
  clock.now += 86_400_000;
  for (const [fault, [plant, reason]] of Object.entries(FAULTS)) {
    plant(feed, elsewhere);
    t.strictSame(await read(undefined, fault === 'silence' ? { providerTimeLimit: 0.1 } : {}), {}, fault);
    t.match(warnings.splice(0), [{ reason, message: /could not be read; what was read before stays/ }], fault);
    t.strictSame(await known('2026-06-01', '2026-09-28'), before, fault);
    feed.answer = undefined;
  }
  t.equal(elsewhere.requests, 0, 'redirects are not followed');
  feed.incidents = INCIDENTS;
  t.strictSame(await read(), { updates: 4, changed: 0 });
  t.strictSame(warnings, []);
  // What it drops for its age stays.
  clock.now += 86_400_000;
  feed.incidents = [DISCOVER];
  t.strictSame(await read(), { updates: 1, changed: 1 });
  const left = ['May 2026 core update', 'June 2026 Spam Update', 'August 2026 spam update'];
  t.strictSame(titlesOf(await known('2026-06-01', '2026-09-28')), left);
  // A run that is stopped ends at once and has changed nothing.
  clock.now += 86_400_000;
  const stop = new AbortController();
  feed.answer = () => stop.abort(new Error('the server stops'));
  await t.rejects(read(stop.signal), /the server stops/);
  t.strictSame(titlesOf(await known('2026-06-01', '2026-09-28')), left);
});

t.test('ORDINATE_RANKING_UPDATES=off asks nobody', async (t) => {
  const { read, feed, warnings } = await rankedWorld(t, INCIDENTS, { ORDINATE_RANKING_UPDATES: 'off' });
  t.strictSame(await read(), {});
  t.strictSame([feed.requests, warnings], [0, []]);
});
