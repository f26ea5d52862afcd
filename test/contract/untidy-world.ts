// Random worlds in which faults cannot hide: see `tidiness` for what each of them must have.

import type { Random } from '../random.ts';
import type { Row, Tables } from '../world.ts';
import { byText, monthSpan, number, text } from './oracle-terms.ts';

/** The last day of all worlds' projects, and the instant at which they are asked about. */
export const LAST = number('2026-03-10');
export const CLOCK = Date.parse('2026-03-15T12:00:00Z');
const FIRST = LAST - 73;
/** A busy machine may need longer for an answer than servers allow by default. */
export const PATIENT = { ORDINATE_REQUEST_SECONDS: '600' };

/** More rows than any list returns by default. */
const LONG = 1001;

/** Their order by bytes is neither this one nor that of UTF-16 units; some differ in case only, some fold to more letters. */
export const TEXTS = [
  'zebra boots',
  'Red shoes',
  'ACME',
  'acme',
  'cafÉ',
  'İstanbul ılık',
  'ΟΔΥΣΣΕΥΣ',
  'οδυσσευς',
  'привет Мир',
  '東京 靴',
  '\u{1f40d} skin',
  '\uff21 wide',
  '=sum(A1)',
  '+1',
  '-1',
  '@home',
  'say "hi", twice',
  "it's; fine",
  'two\tparts\u0007',
  'line\r\nbreak',
  'Boots 10',
  'boots 9',
];
export const URLS = [
  'https://a.example/Zoo',
  'https://a.example/',
  'https://a.example/b?x=1,2',
  'https://a.example/b#part',
  'https://a.example/é',
  'https://a.example/%C3%A9',
  'https://a.example/\u{1f40d}',
  'https://a.example/\uff21',
  'https://A.example/B',
  'https://b.example/=1',
];
const COUNTRIES = ['usa', 'gbr', 'deu', 'aut', 'jpn'];
const DEVICES = ['desktop', 'mobile', 'tablet'];
const APPEARANCES = ['VIDEO', 'AMP_TOP', 'FAQ', 'REVIEW', 'ACTION'];
export const IDS = [
  ...['zzzzz', 'aaaaa', 'Zz999', 'AAAAA', '00000', 'b1b1b', 'Bb1b1', 'm0000', 'M0000', '9aZ9a', 'qqqqq', 'Q1111'],
  ...Array.from({ length: 10 }, (_, at) => `x${String((at * 7) % 10).padStart(4, '0')}`),
];
const EMPTY = { clicks: 0, impressions: 0, sum_position: 0 };

/** Whole numbers, mostly small, so that halves occur when ratios are rounded; sometimes large ones, and zeros. */
function measures(dice: Random, least = 0): Row {
  const impressions = dice.once(8) ? least : dice.once(60) ? dice.whole(1, 900_000_000) : dice.whole(1, 40);
  const clicks = dice.whole(0, Math.min(impressions, dice.once(2) ? 3 : impressions));
  const sum = impressions > 1000 ? dice.whole(0, 40) * impressions : dice.whole(0, 60);
  return impressions === 0 ? EMPTY : { clicks, impressions, sum_position: sum };
}

/** What of a row's numbers is that of another name's row: all, the counts, or the clicks. */
const TWINS: readonly (readonly string[])[] = [
  ['clicks', 'impressions', 'sum_position'],
  ['clicks', 'impressions'],
  ['clicks'],
];

/** Rows of names by day. The first three names, in random order, have days and numbers of a fourth. */
function daily(
  dice: Random,
  days: readonly number[],
  column: string,
  names: readonly string[],
  more: Row[] = [{}],
): Row[] {
  const [first, ...others] = dice.shuffled(names);
  const twins = others.length > 1 ? TWINS.slice(0, others.length) : [];
  const rows = days.flatMap((day) =>
    more.flatMap((key): Row[] => {
      const row = (name: string, numbers: Row): Row => ({ date: text(day), [column]: name, ...key, ...numbers });
      const one = others.length > 0 && dice.once(3) ? undefined : measures(dice, 3);
      const copies =
        one === undefined ? [] : twins.map((same, at) => row(others[at]!, { ...bumped(one, at), ...pick(one, same) }));
      const rest = dice.some(others.slice(twins.length)).map((name) => row(name, measures(dice)));
      return [...(one === undefined ? [] : [row(first!, one)]), ...copies, ...rest];
    }),
  );
  return dice.shuffled(rows);
}

const pick = (row: Row, names: readonly string[]): Row => Object.fromEntries(names.map((name) => [name, row[name]]));
/** Numbers that differ a little, so that only what is named equal is. */
const bumped = (row: Row, by: number): Row => ({
  ...row,
  impressions: Number(row['impressions']) + by,
  sum_position: Number(row['sum_position']) + by,
});

const unplaced = (rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row, sum_position: 0 }));

/** Hours of some days around the end of a project's, among them the one of 23 hours. */
function hourly(dice: Random): Row[] {
  const days = Array.from({ length: 16 }, (_, at) => LAST - 12 + at).filter((day) => !dice.once(5) || day === LAST - 2);
  const rows = days.flatMap((day) =>
    Array.from({ length: day === LAST - 2 ? 23 : 24 }, (_, at) => at)
      .filter(() => !dice.once(4))
      .map((at) => {
        const hour = new Date((day * 24 + (day > LAST - 2 ? 7 : 8) + at) * 3_600_000).toISOString();
        return { date: text(day), hour, ...measures(dice) };
      }),
  );
  return dice.shuffled(rows);
}

const uuid = (project: string, at: number): string =>
  `${at.toString(16).padStart(8, '0')}-0000-4000-8000-${Buffer.from(project).toString('hex').padEnd(12, '0')}`;

function instant(dice: Random): string {
  return `${text(dice.whole(FIRST, LAST))}T0${dice.whole(0, 9)}:00:00.${dice.pick(['000', '001', '999'])}Z`;
}

type Sized = 'most' | 'few' | 'one';

/** The rows of a project. `size`: how many of its days have rows. */
function projectRows(dice: Random, id: string, size: Sized): Record<string, Row[]> {
  const all = Array.from({ length: LAST - FIRST + 1 }, (_, at) => FIRST + at);
  const site =
    size === 'one'
      ? [LAST - 5]
      : all.filter((day) => day > FIRST + 4 && (size === 'most' ? !dice.once(7) : dice.once(9)));
  /** Days of a table: not all of the site's, some that it lacks, and another first and last one. */
  const days = (late: number, early: number): number[] => {
    const [first, last] = [FIRST + late, LAST - early];
    const isDay = (day: number): boolean => (site.includes(day) ? !dice.once(12) : dice.once(25));
    return size === 'one' ? site : all.filter((day) => day === last || (day >= first && day < last && isDay(day)));
  };
  const own = (rows: Row[]): Row[] => rows.map((row) => ({ project_id: id, ...row }));
  const texts = size === 'one' ? TEXTS.slice(0, 1) : TEXTS;
  const ids = size === 'few' ? [...IDS].reverse() : IDS;
  const keywords = dice.shuffled(texts.filter(() => size === 'one' || !dice.once(8))).map(
    (query, at): Row => ({
      id: ids[at],
      query,
      source: dice.pick(['suggested', 'manual', 'import']),
      tracked_since: instant(dice),
      intent: dice.pick(['informational', 'commercial', 'transactional', 'navigational', 'unclassified']),
      archived: size !== 'one' && dice.once(8),
    }),
  );
  const keywordIds = keywords.map((row) => String(row['id']));
  const withDays = keywordIds.filter(() => size === 'one' || !dice.once(6));
  const months = ['2025-12-01', '2026-01-01'].filter(() => size === 'most' || dice.once(2));
  const { groups, members } = groupsOf(dice, keywordIds);
  return {
    keywords: own(keywords),
    groups: own(groups),
    group_members: own(members),
    page_groups: own(
      dice.shuffled(IDS.slice(0, 4)).map((group) => ({
        id: group,
        name: 'pages',
        position: dice.whole(0, 1),
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: dice.pick(['/a', '/B', '/é']) }] },
        pinned_urls: dice.some(['/', '/Zoo']),
      })),
    ),
    site_daily: own(daily(dice, site, 'device', size === 'one' ? ['mobile'] : DEVICES)),
    site_daily_image: own(daily(dice, days(9, 2), 'device', DEVICES)),
    country_daily_image: own(daily(dice, days(12, 4), 'country', COUNTRIES)),
    // The last day of news is as old as may be, that of discover is a day older.
    site_daily_video: own(daily(dice, days(18, 19), 'device', DEVICES)),
    country_daily_video: own(daily(dice, days(20, 21), 'country', COUNTRIES)),
    site_daily_news: own(daily(dice, days(6, 9), 'device', DEVICES)),
    country_daily_news: own(daily(dice, days(7, 9), 'country', COUNTRIES)),
    site_daily_discover: own(unplaced(daily(dice, days(15, 10), 'device', ['unknown']))),
    country_daily_discover: own(unplaced(daily(dice, days(17, 12), 'country', COUNTRIES))),
    site_daily_google_news: own(unplaced(daily(dice, days(10, 3), 'device', DEVICES))),
    country_daily_google_news: own(unplaced(daily(dice, days(10, 3), 'country', COUNTRIES))),
    site_daily_bing: own(size === 'few' ? [] : unplaced(daily(dice, days(19, 1), 'device', ['unknown']))),
    // The last hour of some is final long before the last final day.
    site_hourly: own(hourly(dice).filter(({ date }) => size !== 'few' || number(String(date)) < LAST - 6)),
    keyword_daily: own(
      daily(
        dice,
        days(11, 1),
        'keyword_id',
        withDays,
        DEVICES.map((device) => ({ device })),
      ),
    ),
    keyword_page_daily: own(daily(dice, days(14, 3), 'keyword_id', withDays, [{ url: URLS[0] }, { url: URLS[5] }])),
    country_daily: own(daily(dice, days(33, 0), 'country', COUNTRIES)),
    country_monthly: own(
      months.flatMap((month) =>
        dice.some([...COUNTRIES, 'other']).map((country) => ({ month, country, ...measures(dice) })),
      ),
    ),
    appearance_daily: own(daily(dice, days(16, 6), 'appearance', APPEARANCES)),
    brand_daily: own(daily(dice, days(13, 2), 'segment', ['brand', 'non_brand'])),
    page_daily: own(
      daily(
        dice,
        days(8, 1),
        'url',
        size === 'one' ? URLS.slice(0, 1) : URLS,
        COUNTRIES.slice(0, 3).map((country) => ({ country })),
      ),
    ),
    query_daily: own(
      daily(
        dice,
        days(10, 5),
        'query',
        [
          ...texts,
          ...(size === 'one' ? [] : ['cheapacmes', 'CAFÉ', 'acme boots', 'straße', 'STRASSE', '300 \u212a', '\ua7dc']),
        ],
        COUNTRIES.slice(0, 2).map((country) => ({ country })),
      ),
    ),
    alerts: own(
      dice.shuffled(Array.from({ length: size === 'most' ? 101 : 3 }, (_, at) => at)).map((at) => ({
        id: uuid(id, at),
        type: dice.pick(['keyword_drop', 'traffic_drop']),
        kind: 'a label',
        severity: dice.pick(['info', 'warning', 'critical']),
        title: dice.pick(TEXTS),
        body: dice.pick(['', 'two\nlines', '=1+1']),
        date: dice.once(2) ? text(dice.whole(FIRST, LAST)) : null,
        keyword_id: dice.once(2) ? dice.pick(keywordIds) : null,
        url: dice.once(2) ? 'https://app.example/x' : null,
        // Few instants, so that several alerts share one.
        created_at: `2026-03-0${dice.whole(1, 4)}T05:00:00.${dice.pick(['000', '123'])}Z`,
        resolved_at: dice.once(2) ? '2026-03-11T00:00:00Z' : null,
      })),
    ),
    notes: dice
      .shuffled(Array.from({ length: 9 }, (_, at) => at))
      .map((at) => noteOf(dice, uuid(id, 1000 + at), { id, keywords, groups })),
  };
}

/** Nested folders, members, and rules of every kind. */
function groupsOf(dice: Random, keywordIds: readonly string[]): Record<'groups' | 'members', Row[]> {
  const groups: Row[] = [];
  const members: Row[] = [];
  const folders: string[] = [];
  for (const [at, id] of IDS.slice(0, 9).entries()) {
    const kind = at < 2 ? 'folder' : at < 4 ? 'manual' : at < 7 ? 'rule' : dice.pick(['folder', 'manual', 'rule']);
    const parent = folders.length > 0 && !dice.once(4) ? dice.pick(folders) : null;
    if (kind === 'folder') folders.push(id);
    if (kind === 'manual') members.push(...dice.some(keywordIds).map((keyword_id) => ({ group_id: id, keyword_id })));
    const rule = {
      match: dice.pick(['all', 'any']),
      conditions: dice.once(2) ? [condition(dice)] : [condition(dice), condition(dice)],
    };
    groups.push({
      id,
      name: dice.pick(['shoes', 'Shoes', `group ${id}`]),
      kind,
      parent_id: parent,
      position: dice.whole(0, 2),
      pinned: dice.once(2),
      rule: kind === 'rule' ? rule : null,
    });
  }
  return { groups: dice.shuffled(groups), members: dice.shuffled(members) };
}

export const TEXT_OPERATORS = [
  'contains',
  'not_contains',
  'equals',
  'not_equals',
  'starts_with',
  'ends_with',
  'matches',
];
export const NUMBER_OPERATORS = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte'];
/** Values of conditions on numbers, which occur, so that n - 1, n and n + 1 lie on either side. */
export const VALUES: Readonly<Record<string, readonly number[]>> = {
  clicks: [0, 1, 2, 9, 10, 11, 60],
  impressions: [0, 3, 10, 40, 400],
  ctr: [0, 0.05, 0.5],
  position: [1, 2, 2.5, 3],
};
/** Parts of texts, in another case. */
export const PARTS = ['acme', 'É', 'B', 'οδυσσευσ', 'Σ', 'İ', 'i', 'МИР', '靴', '\u{1f40d}', '"', '+', 'S', ' '];

function condition(dice: Random): Row {
  const field = dice.pick(['query', 'query', 'intent', 'source', ...Object.keys(VALUES)]);
  const values = VALUES[field];
  if (values !== undefined) return { field, op: dice.pick(NUMBER_OPERATORS), value: dice.pick(values) };
  if (field === 'query')
    return { field, op: dice.pick(TEXT_OPERATORS.slice(0, -1)), value: dice.pick([...PARTS, ...TEXTS]) };
  return { field, op: dice.pick(TEXT_OPERATORS), value: dice.pick(['manual', 'Commercial', 'al', 's']) };
}

function noteOf(
  dice: Random,
  id: string,
  { id: project, keywords, groups }: { id: string; keywords: readonly Row[]; groups: readonly Row[] },
): Row {
  const scope = dice.pick(['workspace', 'project', 'page', 'keyword', 'group']);
  const date = dice.whole(FIRST, LAST);
  return {
    id,
    workspace_id: project === 'Alien' ? 'other' : 'acme',
    project_id: scope === 'workspace' ? null : project,
    scope,
    date: text(date),
    end_date: dice.once(2) ? text(date + dice.whole(0, 9)) : null,
    category: dice.pick(['launch', 'content', 'technical', 'migration', 'campaign', 'other']),
    text: dice.pick(TEXTS),
    client_visible: dice.once(2),
    author: 'A. Writer',
    group_id: scope === 'group' ? dice.pick(groups)['id'] : null,
    keyword_id: scope === 'keyword' ? dice.pick(keywords)['id'] : null,
    page: scope === 'page' ? dice.pick(URLS) : null,
    created_at: `2026-03-0${dice.whole(1, 2)}T05:00:00.000Z`,
    updated_at: instant(dice),
  };
}

/** One day with one row more than lists return by default. */
function longRows(): Record<string, Row[]> {
  const date = text(LAST - 2);
  const rows = (column: string, name: (at: number) => string, key: Row): Row[] =>
    Array.from({ length: LONG }, (_, at) => ({
      project_id: 'Long1',
      date,
      [column]: name((at * 5) % LONG),
      ...key,
      clicks: at % 5,
      impressions: 5 + (at % 3),
      sum_position: at % 11,
    }));
  const idOf = (at: number): string => `L${String(at).padStart(4, '0')}`;
  return {
    keywords: Array.from({ length: LONG }, (_, at) => ({
      ...{ project_id: 'Long1', id: idOf(at), query: `long ${at}`, tracked_since: '2026-01-01T00:00:00.000Z' },
      ...{ source: 'import', intent: 'unclassified', archived: false },
    })),
    site_daily: [{ project_id: 'Long1', date, device: 'mobile', clicks: 9000, impressions: 90_000, sum_position: 1 }],
    keyword_daily: rows('keyword_id', idOf, { device: 'mobile' }),
    page_daily: rows('url', (at) => `https://long.example/${at}`, { country: 'usa' }),
    query_daily: rows('query', (at) => `long ${at}`, { country: 'usa' }),
  };
}

/** Projects of a world. Two have the same domain, and one of another workspace has the same texts, ids and domain too. */
function anyWorld(dice: Random): Tables {
  const about = (id: string, more: Row = {}): Row => ({
    id,
    workspace_id: 'acme',
    domain: 'shop.example',
    property: `sc-domain:${id}.example`,
    country: null,
    language: dice.pick([null, 'en']),
    brand_terms: dice.pick([['Acme'], ['acme', 'İ'], ['ΟΔΥΣΣΕΥΣ']]),
    last_synced_at: '2026-03-11T04:05:06.789Z',
    synced_through: text(LAST),
    provisional_after: text(LAST - 3),
    sync_status: null,
    history_backfilling: dice.once(2),
    // Two are of the same instant.
    created_at: dice.pick(['2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-02-01T00:00:00.001Z']),
    setup_finished: true,
    ...more,
  });
  const never = { last_synced_at: null, synced_through: null, provisional_after: null };
  const sizes: Readonly<Record<string, Sized>> = {
    Full1: 'most',
    Twin1: 'most',
    Few01: 'few',
    One01: 'one',
    Fresh: 'few',
    Alien: 'most',
  };
  const tables: Record<string, Row[]> = {
    workspaces: [
      { id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: dice.whole(55, 70) },
      { id: 'other', name: 'Acme', plan: 'team', keyword_history_days: 9 },
    ],
    projects: dice.shuffled([
      about('Full1'),
      about('Twin1'),
      about('Few01', { domain: 'few.example', synced_through: text(LAST - 6), sync_status: 'warning' }),
      about('One01', { domain: 'One.example', provisional_after: null, country: 'usa' }),
      about('Fresh', never),
      about('Long1', { domain: 'long.example' }),
      about('NotYe', { setup_finished: false }),
      about('Alien', { workspace_id: 'other' }),
    ]),
  };
  const all = [...Object.entries(sizes).map(([id, size]) => projectRows(dice, id, size)), longRows()];
  for (const rows of all)
    for (const [table, of] of Object.entries(rows)) tables[table] = [...(tables[table] ?? []), ...of];
  return tables;
}

/** A world that is not tidy by chance. */
export function untidyWorld(dice: Random): Tables {
  for (let draw = 1; ; draw++) {
    const tables = anyWorld(dice);
    const tidy = tidiness(tables);
    if (tidy.length === 0) return tables;
    if (draw === 20) throw new Error(`worlds are tidy: ${tidy.join('; ')}`);
  }
}

/** What makes a world tidy, so that a fault could hide in it. */
function tidiness(tables: Tables): string[] {
  const found: string[] = [];
  const expect = (isThere: boolean, what: string): void => void (isThere || found.push(what));
  const of = (project: string, table: string): Row[] => tables[table]!.filter((row) => row['project_id'] === project);
  for (const [table, column] of [
    ['query_daily', 'query'],
    ['page_daily', 'url'],
    ['keyword_daily', 'keyword_id'],
    ['country_daily', 'country'],
    ['appearance_daily', 'appearance'],
    ['site_daily', 'device'],
  ] as const) {
    for (const project of ['Full1', 'Twin1']) {
      const sums = sumsBy(of(project, table), column);
      const equal = (...names: string[]): number =>
        sums.length - new Set(sums.map((sum) => names.map((name) => sum[name]).join())).size;
      expect(equal('clicks', 'impressions', 'sum_position') > 0, `${table}: rows are equal in everything`);
      if (sums.length > 2)
        expect(
          equal('clicks', 'impressions') > equal('clicks', 'impressions', 'sum_position'),
          `${table}: or in counts only`,
        );
      if (sums.length > 3) expect(equal('clicks') > equal('clicks', 'impressions'), `${table}: or in clicks only`);
      const isOfTexts = table === 'query_daily' || table === 'page_daily';
      const inFile = sums.map(({ name }) => String(name));
      const inText = inFile.toSorted(byText);
      const byClicks = sums
        .toSorted((a, b) => Number(b['clicks']) - Number(a['clicks']))
        .map(({ name }) => String(name));
      const orders = [inFile, inText, byClicks, ...(isOfTexts ? [inFile.toSorted()] : [])];
      const isOrdered = new Set(orders.map((order) => order.join())).size < orders.length;
      expect(
        !isOrdered || sums.length < 4,
        `${table}: orders of the file, of texts by bytes and UTF-16, and of clicks differ`,
      );
    }
  }
  const dates = (project: string, table: string): Set<unknown> => new Set(of(project, table).map(({ date }) => date));
  const site = dates('Full1', 'site_daily');
  for (const table of [
    'keyword_daily',
    'query_daily',
    'page_daily',
    'country_daily',
    'appearance_daily',
    'brand_daily',
  ]) {
    const own = dates('Full1', table);
    expect(
      site.difference(own).size > 0 && own.difference(site).size > 0,
      `${table} and site_daily lack days of each other`,
    );
  }
  const ends = ['query_daily', 'page_daily', 'keyword_daily', 'brand_daily', 'appearance_daily'].map((table) =>
    [...dates('Full1', table)].toSorted(byText).at(-1),
  );
  expect(new Set(ends).size > 3, 'tables end on different days');
  expect(
    Math.min(...[...dates('Full1', 'country_daily')].map((date) => number(String(date)))) > number('2026-01-20'),
    'countries have months before their first day',
  );
  const numbers = (project: string): string => JSON.stringify(of(project, 'site_daily').map(({ clicks }) => clicks));
  expect(
    new Set(['Full1', 'Twin1', 'Alien'].map(numbers)).size === 3,
    'projects of equal names have different numbers',
  );
  const domains = tables['projects']!.map(({ domain }) => domain);
  expect(domains.filter((domain) => domain === 'shop.example').length > 2, 'projects have equal names');
  for (const table of ['query_daily', 'keywords', 'page_daily', 'keyword_daily'])
    expect(of('Long1', table).length === LONG, `${table}: one row more than a page by default`);
  expect(
    of('One01', 'query_daily').length > 0 && sumsBy(of('One01', 'query_daily'), 'query').length === 1,
    'a list of one row',
  );
  expect(of('Fresh', 'site_daily').length > 0, 'rows before the first sync');
  expect(
    tables['country_monthly']!.some(({ month }) => monthSpan(String(month)).to > FIRST + 20),
    'months of countries',
  );
  return found;
}

function sumsBy(rows: readonly Row[], column: string): Row[] {
  const sums = new Map<string, Record<string, unknown>>();
  for (const row of rows) {
    const name = String(row[column]);
    const sum = sums.get(name) ?? { name, clicks: 0, impressions: 0, sum_position: 0 };
    for (const measure of ['clicks', 'impressions', 'sum_position'])
      sum[measure] = Number(sum[measure]) + Number(row[measure]);
    sums.set(name, sum);
  }
  return [...sums.values()];
}
