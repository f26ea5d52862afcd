// Rows of every answer have one total order: a filter or a page leaves it as it is, and so does a format.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { putInspections, putSitemaps, storeCrawlDays } from '../server/catalog/inspections.ts';
import { CRAWL_COUNTS } from '../server/domain/crawl.ts';
import { INDEX_FIELDS } from '../server/domain/index-state.ts';
import { FINDING_TYPES } from '../server/findings/finding.ts';
import { readSitemaps } from '../server/providers/search-console/sitemaps.ts';
import { findingsWorld } from './contract/findings-world.ts';
import { text } from './contract/oracle-terms.ts';
import { CLOCK, IDS, PATIENT, TEXTS, URLS } from './contract/untidy-world.ts';
import { parseCsv, parseNdjson, readArrow, readParquet } from './formats/read.ts';
import { Random } from './random.ts';
import { makeWorld, PROJECT, type Row, type Tables, type World } from './world.ts';

const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const RUNS = Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
/** Requests per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;

/** Fields of flat rows, with `-` before those that begin with the highest. */
type Sort = readonly string[];
type Words = Readonly<Record<string, string>>;
interface Selected {
  readonly sort?: Sort | undefined;
  readonly filter?: readonly [field: string, op: string, value: string | number] | undefined;
  readonly limit?: number;
  readonly offset?: number;
  readonly format?: string;
}

interface Answer {
  readonly path: string;
  /** Other parameters, each of which is asked. */
  readonly asks?: readonly Words[];
  /** The rows in the body, and what names one of them. */
  readonly rows: string;
  readonly named: (row: Row) => unknown;
  /** The columns that name a flat row; none without flat rows. */
  readonly columns: readonly string[];
  /** Which flat rows are these. */
  readonly isRow?: (flat: Row) => boolean;
  /** The stated order, to the last tie, and the one behind a `sort`. */
  readonly order: Sort;
  readonly ties?: Sort;
  /** What rows may be sorted and filtered by. */
  readonly fields?: Readonly<Record<string, 'text' | 'number' | 'boolean'>>;
  readonly pages?: 'by offset' | 'first';
  readonly query?: (ask: Words, selected: Selected) => Words;
}

const BEST: Sort = ['-clicks', '-impressions'];
const NUMBERS = { clicks: 'number', impressions: 'number', ctr: 'number', position: 'number' } as const;
const DAY = { period: '1d' };
const COMPARED = { ...DAY, compare: 'previous' };
const at = (path: string): string => `/projects/Proj1/${path}`;
const of =
  (name: string) =>
  (row: Row): unknown =>
    row[name];

function parametersOf(ask: Words, { sort, filter, ...more }: Selected): Words {
  const escaped = (value: string | number): string => String(value).replaceAll(';', '\\;');
  return {
    ...ask,
    ...(sort && { sort: sort.join() }),
    ...(filter && { filter: [filter[0], filter[1], escaped(filter[2])].join(':') }),
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, String(value)])),
  };
}

function list(rows: string, name: string, more: Answer['fields'] = {}): Answer {
  return {
    ...{ path: at(rows), rows, named: of(name), columns: [name], order: [...BEST, name], pages: 'by offset' },
    fields: { [name]: 'text', ...NUMBERS, ...more },
    asks: [{}, { country: 'usa' }, COMPARED, { engine: 'bing' }],
  };
}

function series(path: string, rows: string, name: string, asks: readonly Words[] = [{}]): Answer {
  return { path: at(path), rows, named: of(name), columns: [name], order: [name], asks };
}

function breakdown(rows: string, kind: string, order: Sort): Answer {
  const asks = [{}, DAY, COMPARED, ...(kind === 'appearance' ? [] : [{ type: 'image' }])];
  const isRow = (row: Row): boolean => row['kind'] === kind;
  return { path: at('breakdowns'), rows, named: of(kind), columns: ['value'], isRow, order: [...order, 'value'], asks };
}

function explained(by: string): Answer {
  const column = by === 'brand' ? 'segment' : by === 'keyword' ? 'keyword_query' : by;
  return {
    ...{ path: at('explain'), rows: 'rows', columns: [column], order: ['-moved', column], pages: 'first' },
    named: ({ keyword, ...row }) => (keyword as Row | undefined)?.['query'] ?? row[column],
    isRow: (row) => !['_rest', '_not_attributed'].includes(String(row[column])),
    asks: [{ by, ...DAY, limit: '1000' }],
  };
}

/** A question with some dimensions, which follows time where there is one. */
function question(...dimensions: readonly string[]): Answer {
  const time = dimensions.filter((name) => ['date', 'week', 'month'].includes(name));
  const columnOf = (name: string): string => (/group/i.test(name) ? `${name}_id` : name);
  const columns = dimensions.map(columnOf);
  const nameOf = (value: unknown): unknown => (value as { id?: string }).id ?? value;
  return {
    ...{ path: at('query'), rows: 'rows', columns, order: [...time, ...BEST, ...columns], ties: [...BEST, ...columns] },
    named: (row) => dimensions.map((name) => nameOf(row[name])).join('|'),
    fields: {
      ...Object.fromEntries(columns.filter((name) => !name.endsWith('_id')).map((name) => [name, 'text' as const])),
      ...NUMBERS,
    },
    pages: 'by offset',
    query: ({ q = '{}', ...ask }, { sort, filter, format, ...page }) => {
      const isName = filter !== undefined && dimensions.includes(filter[0]) && !time.includes(filter[0]);
      const isText = isName && ['query', 'page', 'keyword'].includes(filter[0]);
      const filters = isText ? [['contains', filter[0], [filter[2]]]] : [];
      const asked = { range: { from: '2026-03-08', to: '2026-03-10' }, dimensions, ...(sort && { sort }), filters };
      return {
        ...ask,
        ...(format && { format }),
        q: JSON.stringify({ ...(JSON.parse(q) as object), ...asked, ...page }),
      };
    },
    asks: [{}, { q: JSON.stringify({ compare: 'previous' }) }],
  };
}

const ANSWERS: readonly Answer[] = [
  list('queries', 'query', { branded: 'boolean', tracked: 'boolean' }),
  list('pages', 'url'),
  {
    ...{ path: at('keywords'), rows: 'keywords', named: of('id'), columns: ['id'], order: ['query', 'id'] },
    fields: { query: 'text', intent: 'text', source: 'text', ...NUMBERS },
    asks: [{}, { device: 'mobile' }, COMPARED, { group: IDS[0]! }],
    pages: 'by offset',
  },
  {
    ...{ path: '/portfolio', rows: 'projects', named: of('id'), columns: ['id'], order: ['made', 'id'] },
    fields: { domain: 'text', property: 'text', country: 'text', language: 'text', syncStatus: 'text', ...NUMBERS },
    asks: [{}, DAY, COMPARED, { type: 'image' }, { device: 'mobile' }],
    pages: 'by offset',
  },
  {
    ...{ path: at('index'), rows: 'pages', named: of('url'), columns: ['url'], order: ['url'] },
    fields: { url: 'text', verdict: 'text', coverageState: 'text', lastCrawlTime: 'text', since: 'text' },
    pages: 'by offset',
  },
  question('query'),
  question('page', 'country'),
  question('keyword'),
  question('keyword', 'device'),
  question('group'),
  question('group', 'device'),
  question('pageGroup'),
  question('date', 'query'),
  question('week', 'keyword'),
  question('appearance'),
  {
    ...{ path: at('ai'), rows: 'rows', named: of('page'), columns: ['page'], pages: 'by offset' },
    ...{ order: ['-aiImpressions', '-citations', 'page'], asks: [{ by: 'page' }] },
  },
  { ...series('ai', 'rows', 'date', [{ by: 'date' }]), pages: 'by offset' },
  {
    ...{ path: at('alerts'), rows: 'alerts', named: of('id'), columns: ['id'], pages: 'first' },
    ...{ order: ['-createdAt', 'id'], asks: [{}, { status: 'open' }, { since: '2026-03-02' }] },
  },
  {
    ...{ path: at('notes'), rows: 'notes', named: of('id'), columns: ['id'], order: ['date', 'createdAt', 'id'] },
    asks: [{}, { from: '2026-03-02' }, { clientVisible: '1' }],
  },
  { path: '/projects', rows: 'projects', named: of('id'), columns: ['id'], order: ['made', 'id'] },
  { path: at('groups'), rows: 'groups', named: of('id'), columns: [], order: ['position', 'id'] },
  { path: at('page-groups'), rows: 'pageGroups', named: of('id'), columns: [], order: ['position', 'id'] },
  series('sitemaps', 'sitemaps', 'path'),
  series('crawl', 'days', 'date'),
  { ...series('index/history', 'history', 'since', [{ page: 'https://shop.example/Zoo' }]), order: ['-since'] },
  series('hours', 'hours', 'hour', [{}, { from: '2026-03-08', to: '2026-03-09' }]),
  series('site', 'daily', 'date', [
    {},
    { interval: 'week' },
    { compare: 'previous' },
    { type: 'image' },
    { engine: 'bing' },
  ]),
  breakdown('countries', 'country', BEST),
  breakdown('devices', 'device', BEST),
  breakdown('appearances', 'appearance', BEST.toReversed()),
  {
    ...{ path: at('surfaces'), rows: 'surfaces', columns: ['engine', 'type'], order: ['place'], asks: [{}, COMPARED] },
    named: ({ engine, type }) => `${String(engine)}|${String(type)}`,
  },
  ...['page', 'query', 'keyword', 'device', 'country', 'brand'].map(explained),
];
/** The projects, and when they were made, which no answer says. */
const MADE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['Proj1', 'zzzzz', 'AAAAA', '00000'].map((id) => [id, '2025-03-01T00:00:00Z'])),
  ...Object.fromEntries(['aaaaa', 'Zz999', 'Empty'].map((id) => [id, '2025-02-01T00:00:00.001Z'])),
};
const FORMATS = ['csv', 'ndjson', 'arrow', 'parquet'];
/** The places of groups, by which rows of theirs are sorted. */
const GROUPS = new Map<unknown, number>();
/** Of surfaces. */
const PLACES = ['google web', 'google image', 'google discover', 'bing web', 'google ai', 'bing ai'];

/** Small numbers, so that most rows are equal in some or all of them. */
function measures(dice: Random): Row {
  const impressions = dice.whole(2, 3);
  return { clicks: dice.whole(0, 2), impressions, sum_position: dice.pick([0, 2, 3, impressions * 2]) };
}

/**
 * Rows of names on the last days, and of few on one of the month before: files are read one after the other, so that rows do
 * not arrive in the order of their names.
 */
function daily(dice: Random, column: string, names: readonly string[], more: Row = {}): Row[] {
  const rows = ['2026-02-27', '2026-03-08', '2026-03-09', '2026-03-10'].flatMap((date, n) =>
    names
      .filter(() => (n === 0 ? dice.once(3) : !dice.once(5)))
      .map((name) => ({ date, [column]: name, ...more, ...measures(dice) })),
  );
  return dice.shuffled(rows).map((row) => ({ project_id: 'Proj1', ...row }));
}

function tiedWorld(dice: Random): Tables {
  const own = (rows: readonly Row[]): Row[] => rows.map((row) => ({ project_id: 'Proj1', ...row }));
  const unplaced = (rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row, sum_position: 0 }));
  /** Weeks of Bing, some without a position. */
  const weekly = (column: string, names: readonly string[]): Row[] =>
    own(
      ['2026-02-28', '2026-03-07'].flatMap((week_end) =>
        dice.shuffled(names).map((name) => {
          const numbers = measures(dice);
          return { week_end, [column]: name, ...numbers, ...(dice.once(3) ? { sum_position: null } : {}) };
        }),
      ),
    );
  /** A list that has all pages, the first of which differ. */
  const pagesOf = (urls: readonly string[], measure: string): Row[] =>
    own(urls.map((url, n) => ({ first_day: '2026-03-02', last_day: '2026-03-08', url, [measure]: Number(n > 2) })));
  const instant = (): string => `2026-03-0${dice.whole(1, 3)}T05:00:00.${dice.pick(['000', '123'])}Z`;
  const uuid = (n: number): string =>
    `${dice.whole(0, 0xffff).toString(16).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const countries = ['usa', 'gbr', 'deu', 'aut', 'jpn', 'fra'];
  const devices = ['desktop', 'mobile', 'tablet'];
  const projects = Object.keys(MADE);
  const keywords = dice.shuffled(TEXTS).map((query, n) => ({ id: IDS[n], query }));
  const groups = dice.shuffled(IDS.slice(0, 6)).map((id) => ({ id, position: dice.whole(0, 1) }));
  for (const [place, { id }] of groups.toSorted(comparison(['position', 'id'])).entries()) GROUPS.set(id, place);
  return {
    projects: dice.shuffled(projects).map((id) => ({
      ...PROJECT,
      id,
      domain: dice.pick(['shop.example', 'Shop.example', 'a.example']),
      property: id === 'Proj1' ? PROPERTY : `sc-domain:${id.toLowerCase()}.example`,
      country: id === 'Proj1' ? null : dice.pick([null, 'usa']),
      language: dice.pick([null, 'de', 'en']),
      sync_status: dice.pick([null, 'warning']),
      created_at: MADE[id],
      ...(id === 'Empty' ? { last_synced_at: null, synced_through: null, provisional_after: null } : {}),
    })),
    keywords: own(
      keywords.map((row) => ({
        ...{ ...row, tracked_since: '2025-01-05T00:00:00Z', source: dice.pick(['suggested', 'manual', 'import']) },
        intent: dice.pick(['informational', 'commercial', 'unclassified']),
      })),
    ),
    groups: own(groups.map((row) => ({ ...row, name: 'tied', kind: 'manual' }))),
    group_members: own(
      IDS.slice(0, 6).flatMap((group_id) => dice.some(keywords).map(({ id }) => ({ group_id, keyword_id: id }))),
    ),
    page_groups: own(
      groups.map((row) => ({
        ...{ ...row, name: 'tied', pinned_urls: [] },
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: dice.pick(['/a', '/B', '/']) }] },
      })),
    ),
    site_daily: [
      ...daily(dice, 'device', devices),
      ...projects
        .filter((id) => id !== 'Proj1' && id !== 'Empty')
        .map((id) => ({ project_id: id, date: '2026-03-10', device: 'mobile', ...measures(dice) })),
    ],
    site_daily_image: daily(dice, 'device', devices),
    site_daily_discover: unplaced(daily(dice, 'device', ['unknown'])),
    site_daily_bing: unplaced(
      own(['2026-03-08', '2026-03-07'].map((date) => ({ date, device: 'unknown', ...measures(dice) }))),
    ),
    site_hourly: own(
      dice
        .shuffled(Array.from({ length: 20 }, (_, n) => n))
        .map((n) => ({
          ...{
            date: '2026-03-09',
            hour: `2026-03-09T${String(n + 7)
              .padStart(2, '0')
              .replace(/^2[4-9]$/, '23')}:00:00Z`,
          },
          ...measures(dice),
        }))
        .filter(({ hour }, n, all) => all.findIndex((one) => one.hour === hour) === n),
    ),
    country_daily: daily(dice, 'country', countries),
    country_daily_image: daily(dice, 'country', countries),
    appearance_daily: daily(dice, 'appearance', [...new Set(IDS.slice(0, 12).map((id) => `A_${id.toUpperCase()}`))]),
    brand_daily: daily(dice, 'segment', ['brand', 'non_brand']),
    keyword_daily: devices.flatMap((device) =>
      daily(
        dice,
        'keyword_id',
        keywords.slice(0, -4).map(({ id }) => String(id)),
        { device },
      ),
    ),
    keyword_page_daily: URLS.slice(0, 3).flatMap((url) =>
      daily(
        dice,
        'keyword_id',
        keywords.slice(0, 9).map(({ id }) => String(id)),
        { url },
      ),
    ),
    page_daily: countries.slice(0, 2).flatMap((country) => daily(dice, 'url', URLS, { country })),
    query_daily: countries.slice(0, 2).flatMap((country) => daily(dice, 'query', TEXTS, { country })),
    page_weekly_bing: weekly('url', URLS),
    query_weekly_bing: weekly('query', TEXTS),
    ai_daily: own(['2026-03-09', '2026-03-08'].map((date) => ({ date, ai_impressions: 1 }))),
    citation_daily: own(['2026-03-10', '2026-03-07'].map((date) => ({ date, citations: 1 }))),
    ai_page_period: pagesOf(URLS, 'ai_impressions'),
    citation_page_period: pagesOf(URLS.slice(0, 5), 'citations'),
    alerts: own(
      Array.from({ length: 12 }, (_, n) => ({
        ...{ id: uuid(n), type: 'traffic_drop', kind: 'a', severity: 'info', title: 'b', body: 'c' },
        ...{ created_at: instant(), resolved_at: dice.once(2) ? '2026-03-11T00:00:00Z' : null },
      })),
    ),
    notes: own(
      Array.from({ length: 12 }, (_, n) => ({
        ...{ id: uuid(100 + n), workspace_id: 'acme', scope: 'project', date: dice.pick(['2026-03-02', '2026-03-01']) },
        ...{ category: 'other', text: 'a', author: 'b', client_visible: dice.once(2) },
        ...{ created_at: instant(), updated_at: '2026-03-09T00:00:00Z' },
      })),
    ),
  };
}

const PROPERTY = String(PROJECT['property']);

/** What the server keeps of pages, sitemaps and the crawler, as the sync puts it. */
async function putSearchState({ catalog }: World, dice: Random): Promise<void> {
  const property = PROPERTY;
  const urls = URLS.map((url) => url.replace(/[aAb]\.example/, 'shop.example')).filter(
    (url, n, all) => all.indexOf(url) === n,
  );
  const texts = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null]));
  for (const day of [4, 5, 6]) {
    const results = dice.shuffled(day === 4 ? urls : urls.slice(0, 1)).map((url) => ({
      ...{ url, at: (CLOCK - (10 - day) * 86_400_000) * 1000, clicks: 1, isWatched: false },
      inspection: {
        lastCrawlTime: dice.pick([null, '2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z']),
        state: {
          ...texts,
          verdict: day === 4 ? dice.pick(['PASS', 'FAIL', null]) : `V${day}`,
          coverageState: dice.pick([null, 'a', 'B']),
        },
      },
    }));
    await putInspections(catalog, { id: 'Proj1', property }, results as never, { dueAt: 0, reason: null });
  }
  const sitemaps = readSitemaps({ sitemap: dice.shuffled(urls).map((path) => ({ path })) });
  await putSitemaps(catalog, 'Proj1', property, { sitemaps, fetchedAt: 1, reason: null, dueAt: 1 });
  const counts = Object.fromEntries(CRAWL_COUNTS.map((name) => [name, 1]));
  const days = ['2026-03-09', '2026-03-08', '2026-03-10'].map((date) => ({ date, ...counts }));
  await storeCrawlDays(catalog, { project: 'Proj1', property }, days as never, { keptFrom: null, now: CLOCK * 1000 });
}

const bytes = (a: number | string | null, b: number | string | null): number =>
  Buffer.compare(Buffer.from(String(a ?? '')), Buffer.from(String(b ?? '')));

/** What rows are sorted by: numbers and texts of a flat row, or what is counted from them. Null is unknown. */
function cell(row: Row, field: string): number | string | null {
  const [clicks, impressions, sum] = [row['clicks'], row['impressions'], row['sum_position']].map(
    (value) => value as number | null,
  );
  if (field === 'ctr') return impressions ? clicks! / impressions : null;
  if (field === 'made') return MADE[String(row['id'])]!;
  if (field === 'position' && impressions !== undefined)
    return impressions && sum !== null && sum !== undefined ? sum / impressions : null;
  if (field === 'moved') return Math.abs(Number(row['clicks_difference']));
  if (field === 'place') return PLACES.indexOf(`${String(row['engine'])} ${String(row['type'])}`);
  if (/group_id$/i.test(field)) return GROUPS.get(row[field])!;
  if (field === 'tracked') return String(row['trackedKeywordId'] !== null);
  if (field === 'untestedGain') return row['p'] === null ? Number(row['gain_clicks']) : 0;
  if (field === 'findingPlace') return FINDING_TYPES.indexOf(row['type'] as (typeof FINDING_TYPES)[number]);
  const value = (field === 'subject' ? (row['page'] ?? row['query']) : row[field]) ?? null;
  return value === null || typeof value === 'number' ? value : name(value);
}

/** Unknown numbers come last in either direction; texts that are not there are empty. */
function comparison(sort: Sort): (a: Row, b: Row) => number {
  const keys = sort.map((key) => ({ field: key.replace(/^-/, ''), sign: key.startsWith('-') ? -1 : 1 }));
  return (a, b) => {
    for (const { field, sign } of keys) {
      const [x, y] = [cell(a, field), cell(b, field)];
      const isNumber = typeof (x ?? y) === 'number' || field in NUMBERS;
      const isUnknown = isNumber && (x === null || y === null);
      const difference = isUnknown
        ? Number(x === null) - Number(y === null)
        : sign * (isNumber ? Number(x) - Number(y) : bytes(x, y));
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** Asks a world, and checks what comes. */
class Asker {
  readonly #world: World;
  readonly #clock: { count: number };
  readonly #wholes = new Map<string, Promise<readonly Row[]>>();

  constructor(world: World, clock: { count: number }) {
    this.#world = world;
    this.#clock = clock;
  }

  async #get({ path, query = parametersOf }: Answer, ask: Words, selected: Selected) {
    const words = new URLSearchParams(query(ask, selected)).toString().replaceAll('+', '%20');
    this.#clock.count++;
    const url = `/api/v1${path}?${words}`;
    const response = await this.#world.app.inject({ url, headers: { authorization: `Bearer ${this.#world.key}` } });
    if (response.statusCode !== 200) throw new Error(`${url}: ${response.body}`);
    return response;
  }

  /** The names of the rows of a body, and how many there are on all pages. */
  async json(answer: Answer, ask: Words, selected: Selected = {}): Promise<{ names: string[]; total?: number }> {
    const body = (await this.#get(answer, ask, selected)).json<
      Record<string, Row[]> & { paging?: { total: number } }
    >();
    const names = body[answer.rows]!.map((row) => name(answer.named(row)));
    return { names, ...(body.paging && { total: body.paging.total }) };
  }

  async flat(answer: Answer, ask: Words, selected: Selected & { format: string }): Promise<Row[]> {
    const { body, rawPayload } = await this.#get(answer, ask, selected);
    const rows = await READERS[selected.format]!(body, rawPayload);
    return rows.filter((row) => answer.isRow?.(row) ?? true);
  }

  /** All rows, without a filter or an order, as the endpoint has them. */
  whole(answer: Answer, ask: Words): Promise<readonly Row[]> {
    const key = JSON.stringify([answer.path, answer.rows, answer.columns, ask]);
    const known = this.#wholes.get(key) ?? this.all(answer, ask, {});
    this.#wholes.set(key, known);
    return known;
  }

  async all(answer: Answer, ask: Words, selected: Selected): Promise<Row[]> {
    // Only columnar formats have the exact sums of positions.
    if (answer.columns.length > 0) return this.flat(answer, ask, { ...selected, format: 'arrow' });
    return (await this.#get(answer, ask, selected)).json<Record<string, Row[]>>()[answer.rows]!;
  }
}

type Reader = (text: string, payload: Buffer) => Row[] | Promise<Row[]>;
const READERS: Readonly<Record<string, Reader>> = {
  csv: (text) => {
    const [head = [], ...lines] = parseCsv(text);
    return lines.map((line) =>
      Object.fromEntries(line.map((value, n) => [head[n]!, value.replace(/^'(?=[=+@-])/, '')])),
    );
  },
  ndjson: parseNdjson,
  arrow: (_, payload) => readArrow(payload).rows,
  parquet: async (_, payload) => (await readParquet(payload)).rows,
};

/** The same text for a value in every format. */
function name(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
  return /^\d{4}-\d\d-\d\dT/.test(text) ? new Date(text).toISOString() : text;
}

function namesOf({ columns, named }: Answer, rows: readonly Row[]): string[] {
  return rows.map((row) => (columns.length === 0 ? name(named(row)) : columns.map((one) => name(row[one])).join('|')));
}

function same(found: readonly string[], expected: readonly string[], what: string): void {
  if (found.join('\n') === expected.join('\n')) return;
  throw new Error(`${what}\nfound ${JSON.stringify(found)}\nnot   ${JSON.stringify(expected)}`);
}

/** How many rows stand beside one that only the name tells apart. */
let ties = 0;

/** Throws unless rows stand in an order that leaves no two equal. */
function inOrder(answer: Answer, rows: readonly Row[], sort: Sort, what: string): void {
  const order = comparison(sort);
  const counts = comparison(sort.slice(0, -1));
  for (const [n, row] of rows.entries()) {
    const before = rows[n - 1];
    if (before === undefined) continue;
    if (sort.length > 1 && counts(before, row) === 0) ties++;
    if (order(before, row) >= 0) throw new Error(`${what}: ${namesOf(answer, [before, row]).join(' stands before ')}`);
  }
}

/** A request about a list: a filter and an order of it, and how long its pages are. */
interface Request extends Selected {
  readonly ask: Words;
  readonly limit: number;
  readonly offset: number;
  readonly format: string;
}

const VALUES = {
  text: ['a', 'S', '/', 'É', 'I', '\u{1f40d}'],
  boolean: ['true', 'false'],
  number: [0, 1, 2, 6, 0.5, 1.5],
};
const OPERATORS = { text: ['contains', 'not_contains'], boolean: ['eq', 'neq'], number: ['lte', 'gt', 'eq', 'neq'] };

function requestsOf({ fields, asks = [{}] }: Answer): fc.Arbitrary<Request> {
  const paged = {
    ...{ ask: fc.constantFrom(...asks), limit: fc.integer({ min: 1, max: 9 }), offset: fc.nat({ max: 30 }) },
    format: fc.constantFrom(...FORMATS, 'csv', 'arrow'),
  };
  if (fields === undefined) return fc.record(paged);
  const keys = Object.keys(fields).flatMap((key) => [key, `-${key}`]);
  const sort = fc.uniqueArray(fc.constantFrom(...keys), {
    ...{ minLength: 1, maxLength: 2, selector: (key) => key.replace('-', '') },
  });
  const filter = fc.constantFrom(...Object.entries(fields)).chain(([field, kind]) => {
    const [op, value] = [fc.constantFrom(...OPERATORS[kind]), fc.constantFrom(...VALUES[kind])];
    return fc.tuple(fc.constant(field), op, value);
  });
  return fc.record({
    ...{ ...paged, sort: fc.option(sort, { nil: undefined }), filter: fc.option(filter, { nil: undefined }) },
  });
}

/** Throws unless a request keeps the order of the whole, and its pages join to it. */
async function check(asker: Asker, answer: Answer, request: Request): Promise<void> {
  const { ask, sort, filter, limit, offset, format } = request;
  const whole = await asker.whole(answer, ask);
  const selected = { sort, filter };
  const what = `${answer.path} ${JSON.stringify({ ask, ...selected, limit, offset, format })}`;
  const all = await asker.all(answer, ask, selected);
  const names = namesOf(answer, all);
  const kept = whole.filter((row) => names.includes(namesOf(answer, [row])[0]!));
  const ordered = sort === undefined ? kept : kept.toSorted(comparison([...sort, ...(answer.ties ?? answer.order)]));
  same(names, namesOf(answer, ordered), `${what}: the rows of the whole that it keeps, in order`);
  const pages: string[] = [];
  for (let from = 0; from <= Math.min(names.length, 2 * limit); from += limit) {
    const page = await asker.json(answer, ask, { ...selected, limit, offset: from });
    pages.push(...page.names);
    if (page.total !== names.length) throw new Error(`${what}: ${page.total} rows at ${from}, not ${names.length}`);
  }
  same(pages, names.slice(0, pages.length), `${what}: its pages join`);
  if (pages.length < Math.min(names.length, 2 * limit)) throw new Error(`${what}: its pages end early`);
  const part = await asker.flat(answer, ask, { ...selected, limit, offset, format });
  same(namesOf(answer, part), names.slice(offset, offset + limit), `${what}: a page in ${format}`);
}

const EXAMPLE = { sort: undefined, limit: 4, offset: 2, format: 'csv' };

/** A filter that leaves no row out, of answers that have one: the order behind a filter is seen at once. */
function filterOfAll({ fields = {} }: Answer): [string, string, string][] {
  const field = Object.keys(fields).find((one) => fields[one] === 'text');
  return field === undefined ? [] : [[field, 'not_contains', '~']];
}

/** Checks the whole of each answer, and random requests about those that have pages. */
async function checkAll(t: Test, asker: Asker, answers: readonly Answer[]): Promise<void> {
  for (const answer of answers) {
    for (const [n, ask] of (answer.asks ?? [{}]).entries()) {
      const what = `${answer.path} ${answer.rows} ${JSON.stringify(ask)}`;
      await t.resolves(async () => {
        const rows = await asker.whole(answer, ask);
        if (rows.length < 2) throw new Error('has too few rows to have an order');
        inOrder(answer, rows, answer.order, 'order');
        const names = namesOf(answer, rows);
        same((await asker.json(answer, ask)).names, names, 'in JSON');
        for (const format of answer.columns.length === 0 || n > 0 ? [] : ['csv', 'ndjson'])
          same(namesOf(answer, await asker.flat(answer, ask, { format })), names, `in ${format}`);
        if (answer.pages !== 'first') return;
        const { names: first } = await asker.json(answer, ask, { limit: 3 });
        same(first, names.slice(0, 3), 'the first rows');
      }, what);
    }
    if (answer.pages !== 'by offset') continue;
    const property = fc.asyncProperty(requestsOf(answer), (request) => check(asker, answer, request));
    const runs = Math.ceil(Object.keys(answer.fields ?? {}).length / 3) + 1;
    const examples = filterOfAll(answer).map((filter): [Request] => [
      { ...EXAMPLE, ask: answer.asks?.[0] ?? {}, filter },
    ]);
    await t.resolves(
      fc.assert(property, { numRuns: runs * RUNS, seed: SEED, examples }),
      `${answer.path}: filters and pages`,
    );
  }
}

/** @param from the instant of the first requests */
async function worldOf(t: Test, tables: Tables, from: number): Promise<[world: World, asker: Asker]> {
  const clock = { count: 0 };
  const now = (): number => from + Math.floor(clock.count / IN_A_MINUTE) * 60_000;
  const world = await makeWorld(t, tables, { now, environment: PATIENT });
  return [world, new Asker(world, clock)];
}

t.test('rows of every answer have a total order, whatever is asked of them', async (t) => {
  const dice = new Random(`order ${SEED}`);
  const [world, asker] = await worldOf(t, tiedWorld(dice), CLOCK);
  await putSearchState(world, dice);
  await checkAll(t, asker, ANSWERS);
  t.ok(ties > 100, `${ties} rows are told apart by their names only`);
});

t.test('so have findings, and the days of an effect', async (t) => {
  const { tables, last } = findingsWorld(new Random('world 1 of 1'));
  const [, asker] = await worldOf(t, tables, (last + 1.5) * 86_400_000);
  const day = (ago: number): string => text(last - ago);
  await checkAll(t, asker, [
    {
      ...{ path: at('findings'), rows: 'findings', columns: ['type', 'page', 'query'], pages: 'by offset' },
      named: ({ type, page, query }) => [type, page, query].join('|'),
      order: ['p', '-untestedGain', 'findingPlace', 'subject'],
      asks: [{ q: '0.5', to: day(4) }],
    },
    { ...series('effects', 'daily', 'date', [{ date: day(40), page: String(tables['page_daily']![0]!['url']) }]) },
  ]);
});
