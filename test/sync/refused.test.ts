// When a provider refuses, fails or returns too much, the sync keeps its data, reports why, and recovers.
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import type { LogEntry } from '../../cli/demo/provider/provider.ts';
import { command } from '../command.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { sameAsRecorded } from '../recorded.ts';
import type { Row } from '../world.ts';
import { BRAND_TERMS, HOUR, holdsAll, NOW, newWorld, ORIGIN, setClock, TABLES, wanted } from './operator-world.ts';

/** Their tables take as long as all others together. */
const NO_KEYWORDS = { tracked: [] };
const isFor =
  (...dimensions: readonly string[]) =>
  ({ request }: LogEntry): boolean =>
    request?.dimensions.some((dimension) => dimensions.includes(dimension)) ?? false;

/** The tables in which a failure is looked for. */
const SEEN = [...TABLES, 'site_hourly', 'site_daily_image', 'country_daily_image'] as const;

t.test('what fails is told, keeps what is stored, and is made up for', async (t) => {
  const world = await newWorld(t, NO_KEYWORDS);
  const { provider } = world;
  world.site.options.types.image = 0.5;
  await world.sync();
  const credentials = readFileSync(provider.credentials);
  const failing = (how: Parameters<typeof provider.fail>[0], which?: (entry: LogEntry) => boolean) => ({
    before: () => provider.fail(how, which === undefined ? {} : { which }),
    after: () => provider.heal(),
  });
  const set = (...terms: readonly string[]) =>
    world.done('projects', 'set', '--project', world.project, ...terms.flatMap((term) => ['--brand-term', term]));
  const nothing = () => {};
  const answer = (...keys: readonly string[]) => {
    const row = { keys, clicks: -1, impressions: 1, ctr: 1, position: 1 };
    return { status: 200, body: { rows: [row] } };
  };
  const isImage = ({ request }: LogEntry): boolean => request?.type === 'image';
  const cases: Readonly<Record<string, { before: () => unknown; after: () => unknown; settings?: NodeJS.ProcessEnv }>> =
    {
      'access is taken': {
        before: () => provider.take('sc-domain:shop.example'),
        after: () => provider.give('sc-domain:shop.example'),
      },
      'the grant is revoked': {
        before: () => Object.assign(provider.account, { isRevoked: true }),
        after: () => Object.assign(provider.account, { isRevoked: false }),
      },
      'no credentials': {
        before: () => rmSync(provider.credentials),
        after: () => writeFileSync(provider.credentials, credentials, { mode: 0o600 }),
      },
      'the API is not enabled': failing(FAILURES.disabled),
      'too much load': failing(FAILURES.loadQuota),
      'too many requests': failing(FAILURES.tooMany),
      'the provider is down': failing(FAILURES.unavailable),
      'one table': failing(FAILURES.badRequest, isFor('country')),
      'two tables': failing(FAILURES.badRequest, isFor('country', 'searchAppearance')),
      'the table of all numbers': failing(FAILURES.badRequest, isFor('device')),
      'hours that are none': failing(answer('2026-03-14T05:30:00-07:00'), isFor('hour')),
      'too much load for hours': failing(FAILURES.loadQuota, isFor('hour')),
      'images with less than no clicks': failing(answer('2026-03-14', 'MOBILE'), isImage),
      'too much load for images': failing(FAILURES.loadQuota, isImage),
      'the split by other brand terms': {
        before: async () => {
          await set('boots');
          const isSplit = ({ request }: LogEntry) => request?.filters.some(({ dimension }) => dimension === 'query');
          provider.fail(FAILURES.badRequest, { which: (entry) => isSplit(entry) ?? false });
        },
        after: async () => {
          await set(...BRAND_TERMS);
          provider.heal();
        },
      },
      'a disk with too little room': { before: nothing, after: nothing, settings: { ORDINATE_MIN_FREE: '1000000TB' } },
    };
  const told: string[] = [];
  let now = NOW;
  for (const [name, { before, after, settings }] of Object.entries(cases)) {
    const stored = await Promise.all(SEEN.map((table) => world.stored(table)));
    now += 24 * HOUR;
    setClock(now);
    provider.forget();
    await before();
    const run = () => command({ ...world.settings, ...settings }, 'sync');
    const { code, stdout, stderr } = await run();
    t.equal(code, 1, name);
    t.notMatch(stdout + stderr, /ya29|refresh-token-of|client-secret-of|^ {4}at /m, name);
    const { status, lastError, nextRun, backfill } = await world.status();
    const isChanged = await Promise.all(
      SEEN.map(async (table, at) => JSON.stringify(await world.stored(table)) !== JSON.stringify(stored[at])),
    );
    const asked = (): number => provider.model.log.filter(({ kind }) => kind === 'query').length;
    const first = asked();
    // Within the pause, what failed is not asked for.
    const failed = provider.model.log.filter(({ status: code }) => code >= 400).length;
    await run();
    const again = provider.model.log.filter(({ status: code }) => code >= 400).length - failed;
    // A tenth sooner or later.
    const hours = (Date.parse(nextRun) - now) / HOUR;
    const reason = lastError.replace(provider.credentials, 'FILE').replace(/\d+ MB left/, 'some left');
    told.push(
      `${name}: ${/\d\.\d+ +([a-z]\S+)/.exec(stdout)?.[1]}, ${status}, again in ${[0.25, 6].find((pause) => Math.abs(hours / pause - 1) < 0.11)} h`,
      `  ${['no request', 'one request'][first] ?? 'requests'}, ${['nothing', 'one request'][again] ?? 'requests'} refused at once after; ${backfill.total - backfill.done} days to come`,
      `  changed: ${SEEN.filter((_, at) => isChanged[at]).join(' ') || 'nothing'}`,
      `  ${reason}`,
    );
    await after();
    now += 24 * HOUR;
    setClock(now);
    await world.sync();
    t.match(await world.status(), { status: 'ok', lastError: null }, name);
    await holdsAll(t, world, wanted(world), name);
  }
  sameAsRecorded(t, 'sync-refused.txt', `${told.join('\n')}\n`, /\n(?! )/);
});

t.test(
  'the load quota in the middle of a history: what is in stays, and the rest follows after the pause',
  async (t) => {
    const world = await newWorld(t, { from: '2026-02-01', ...NO_KEYWORDS });
    const { options } = world.provider.model.quotas;
    // Enough for the first window and not for the next.
    options.load = 800;
    t.match(await world.ordinate('sync'), { code: 1, stdout: / quota / });
    t.match(await world.status(), { status: 'warning', tables: { site_daily: { firstDay: '2026-02-18' } } });
    const refused = world.provider.model.log.filter(({ status }) => status === 403).length;
    t.ok(refused <= 4, `left alone after ${refused} refusals`);
    world.provider.forget();
    setClock(NOW + 0.24 * HOUR);
    t.match(await world.ordinate('sync'), { code: 1 });
    t.strictSame(world.provider.model.log, [], 'nothing is asked within the pause');
    options.load = Number.POSITIVE_INFINITY;
    setClock(NOW + 0.26 * HOUR);
    const asked = await world.sync();
    t.match(await world.status(), { status: 'ok', lastError: null });
    await holdsAll(t, world, wanted(world), 'all of it');
    const sites = asked.filter(({ request }) => request.dimensions.join() === 'date,device');
    t.strictSame(
      sites.map(({ request: { from, to } }) => [from, to]),
      [
        ['2026-03-13', '2026-03-15'],
        ['2026-02-01', '2026-02-15'],
      ],
      'no published window is fetched again',
    );
  },
);

t.test('values that no load would take are left out, each by itself', async (t) => {
  const day = '2026-03-15';
  const world = await newWorld(t, { create: ['--archive', 'queries,pages'], from: day, tracked: ['Boots'] });
  await world.done('projects', 'set', '--project', world.project, '--no-brand-terms');
  const page = 'https://shop.example/';
  const [long, longer] = [65_536, 65_537].map((bytes) => `${page}${'x'.repeat(bytes - page.length)}`);
  const text = 'é'.repeat(32_768);
  type Answer = [keys: readonly unknown[], clicks?: number, impressions?: number, position?: number];
  const answers: Readonly<Record<string, readonly Answer[]>> = {
    'date,device': [
      [[day, 'MOBILE']],
      [[day, 'desktop'], 1, 0, 0],
      [[day, 'Tablet'], 0, 0, 0],
      [[day, 'TV']],
      ...['2026-03-14', '2026-03-16', '2026-02-30', '20260315', '', '../../../../other'].map(
        (date): Answer => [[date, 'TABLET']],
      ),
    ],
    'date,country': [
      ...['usa', 'ZZZ', 'us', 'usaa', 'u1a', 'other', 'ıst', ''].map((country): Answer => [[day, country]]),
      [[day, 'gbr'], 1, 9e15, 9e6],
    ],
    searchAppearance: ['VIDEO', 'video_2', '_A', '1A', 'A B', 'ß'].map((name): Answer => [[name]]),
    date: [[[day], 1, 2, 0.4], [['2026-03-14']]],
    'date,query,device': [[[day, 'BOOTS', 'MOBILE']], [[day, 'boots x', 'DESKTOP']], [[day, 'boots', 'TV']]],
    'date,query,page': [
      page,
      'HTTP://shop.example/',
      'android-app://a/b',
      long,
      longer,
      '//a',
      '1a://b',
      'text',
      '',
    ].map((url): Answer => [[day, 'boots', url]]),
    'query,country': ['boots', 'BOOTS', ' a', 'İ', 'a\0b', text, `${text}a`, '', ' ', '\u00a0\u3000', '\ud800'].map(
      (query): Answer => [[query, 'usa']],
    ),
    'page,country': [page, 'text', '\udfff://x'].map((url): Answer => [[url, 'usa']]),
  };
  for (const [dimensions, list] of Object.entries(answers)) {
    const rows = list.map(([keys, clicks = 1, impressions = 4, position = 2.5]) => ({
      keys,
      clicks,
      impressions,
      ctr: 0,
      position,
    }));
    world.provider.fail(
      { status: 200, body: { rows } },
      {
        which: ({ request }) =>
          request?.type === 'web' &&
          request.dimensions.join() === dimensions &&
          (dimensions !== 'date' || request.filters.length > 0),
      },
    );
  }
  await world.sync();
  t.strictSame(globSync('**/other*', { cwd: dirname(world.dataFolder) }), [], 'a day is no path');
  const stored: Record<string, unknown> = {};
  for (const table of [...TABLES, 'query_daily', 'page_daily'] as const)
    stored[table] = (await world.stored(table)).map(({ date, clicks, impressions, sum_position, ...more }: Row) => {
      const keys = Object.entries(more).filter(([name]) => !name.endsWith('_id'));
      const texts = keys.map(([, value]) => String(value)).map((value) => (value.length > 50 ? value.length : value));
      return [date, ...texts, clicks, impressions, sum_position].join(' ');
    });
  const [one, two] = ['1 2 0', '1 4 6'];
  t.strictSame(stored, {
    site_daily: [`${day} desktop 1 0 0`, `${day} mobile ${two}`],
    country_daily: [`${day} usa ${two}`, `${day} zzz ${two}`],
    // The capital letters of 'ß' are letters.
    appearance_daily: [`${day} SS ${one}`, `${day} VIDEO ${one}`, `${day} VIDEO_2 ${one}`],
    brand_daily: [`${day} non_brand ${one}`],
    keyword_daily: [`${day} mobile ${two}`],
    keyword_page_daily: ['HTTP://shop.example/', 'android-app://a/b', page, '65536'].map(
      (url) => `${day} ${url} ${two}`,
    ),
    query_daily: [' a', 'BOOTS', 'a\0b', 'boots', '32768', 'İ'].map((query) => `${day} usa ${query} ${two}`),
    page_daily: [`${day} usa ${page} ${two}`],
  });
});

t.test('a day that is cut off is marked, and keywords beyond the cut are there', async (t) => {
  const day = '2026-03-11';
  const many = Array.from({ length: 50_020 }, (_, number): KnownSearch => {
    const results = [{ page: `${ORIGIN}${number % 7}`, position: 1 + (number % 9), clicks: number < 40_000 ? 1 : 0 }];
    return { date: day, query: `query ${number}`, country: 'usa', device: 'MOBILE', count: 2, results };
  });
  const last = 'query 50019';
  const world = await newWorld(t, { create: ['--archive', 'queries'], from: '2026-03-10', tracked: [last] });
  world.provider.model.addSite('sc-domain:shop.example', new KnownSearches(many));
  await world.sync();
  t.match(await world.status(), { tables: { query_daily: { cutOffDays: 1 }, keyword_daily: { cutOffDays: 0 } } });
  const queries = await world.stored('query_daily');
  t.strictSame([queries.length, new Set(queries.map(({ query }) => query)).size], [50_000, 50_000]);
  t.equal(queries.filter(({ clicks }) => clicks === 1).length, 40_000, 'the best of it');
  const [{ id } = { id: '' }] = world.keywords();
  t.match(await world.stored('keyword_daily'), [{ keyword_id: id, date: day, impressions: 2, clicks: 0 }]);
});
