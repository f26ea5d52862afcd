import fc from 'fast-check';
import type { Row, Tables } from '../world.ts';

/** The day and time of the random world. */
export const CLOCK = Date.parse('2026-03-15T12:00:00Z');

/** From here on, 75 days: three ends of months, one of them in February. */
const FIRST_DAY = '2025-12-27';
const LAST_DAY = '2026-03-10';

const COUNTRIES = ['usa', 'gbr', 'deu'];
const DEVICES = ['desktop', 'mobile', 'tablet'];
/** Upper case, beyond ASCII, and an order of bytes that is not that of UTF-16. */
const QUERIES = [
  'Red shoes',
  'acme boots',
  'ACME',
  'cafÉ',
  'été sale',
  '\u{1f40d} skin',
  '\uff21 b',
  'b',
  'B-side',
  'a',
];
const IDS = [
  'aaaaa',
  'Zz999',
  'AAAAA',
  '00000',
  'zzzzz',
  'b1b1b',
  'Bb1b1',
  'm0000',
  'M0000',
  '9aZ9a',
  'qqqqq',
  'Q1111',
];

function day(number: number): string {
  return new Date(Date.parse(FIRST_DAY) + number * 86_400_000).toISOString().slice(0, 10);
}

/** Draws one thing after the other, so that a world is written down as a story and not as a type. */
class Draw {
  readonly #gen: fc.GeneratorValue;

  constructor(gen: fc.GeneratorValue) {
    this.#gen = gen;
  }

  number(min: number, max: number): number {
    return this.#gen(fc.integer, { min, max });
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.number(1, times) === 1;
  }

  one<T>(from: readonly T[]): T {
    return from[this.number(0, from.length - 1)]!;
  }

  some<T>(from: readonly T[]): T[] {
    return from.filter(() => this.once(2));
  }

  /** Small numbers, where halves are, large ones now and then, and nothing at all. */
  measures(least = 0): Row {
    const impressions = this.once(6) ? least : this.once(8) ? this.number(1, 900_000_000) : this.number(1, 40);
    const clicks = this.number(0, Math.min(impressions, this.once(2) ? 3 : impressions));
    const places = impressions > 1000 ? this.number(0, 40) * impressions : this.number(0, 60);
    return { clicks, impressions, sum_position: impressions === 0 ? 0 : places };
  }

  instant(): string {
    return `${day(this.number(0, 74))}T0${this.number(0, 9)}:00:00.${this.one(['000', '001', '999'])}Z`;
  }
}

/** The rows of one project. `stored` is how many of the days have rows. */
function project(draw: Draw, id: string, keys: readonly string[], stored: 'most' | 'few'): Record<string, Row[]> {
  const isStored = (): boolean => (stored === 'most' ? !draw.once(5) : draw.once(12));
  const days = Array.from({ length: 75 }, (_, number) => day(number)).filter((_, number) => number > 4 && isStored());
  const of = (more: Row): Row => ({ project_id: id, ...more });
  const daily = (column: string, names: readonly string[], least = 0): Row[] =>
    days.flatMap((date) => draw.some(names).map((name) => of({ date, [column]: name, ...draw.measures(least) })));
  const listed = (column: string, names: readonly string[]): Row[] =>
    daily(column, names, 1).flatMap((row) =>
      draw.some(COUNTRIES).map((country) => ({ ...row, ...draw.measures(1), country })),
    );

  const queries = QUERIES.filter(() => !draw.once(4));
  const keywords = queries.map((query, at) =>
    of({
      id: keys[at],
      query,
      source: draw.one(['suggested', 'manual', 'import']),
      tracked_since: draw.instant(),
      intent: draw.one(['informational', 'commercial', 'transactional', 'navigational', 'unclassified']),
      archived: draw.once(6),
    }),
  );
  const keywordIds = keywords.map((row) => String(row['id']));
  const { groups, members } = groupsOf(draw, of, keywordIds);
  const months = ['2025-12-01', '2026-01-01', '2026-02-01'].filter(() => stored === 'most' || draw.once(2));
  return {
    keywords,
    groups,
    group_members: members,
    page_groups: draw.some(IDS.slice(0, 4)).map((group) =>
      of({
        id: group,
        name: `pages ${group}`,
        position: draw.number(0, 2),
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/a' }] },
        pinned_urls: draw.some(['/a', '/b']),
      }),
    ),
    site_daily: daily('device', DEVICES),
    keyword_daily: keywordIds.flatMap((keyword) =>
      draw.once(5) ? [] : daily('device', DEVICES).map((row) => ({ ...row, keyword_id: keyword })),
    ),
    // No answer is made of them.
    keyword_page_daily: keywordIds.flatMap((keyword) =>
      daily('url', ['https://a.example/']).map((row) => ({ ...row, keyword_id: keyword })),
    ),
    country_daily: daily('country', COUNTRIES),
    country_monthly: months.flatMap((month) =>
      draw.some([...COUNTRIES, 'other']).map((country) => of({ month, country, ...draw.measures() })),
    ),
    appearance_daily: daily('appearance', ['VIDEO', 'AMP_TOP', 'FAQ']),
    brand_daily: daily('segment', ['brand', 'non_brand']),
    page_daily: listed('url', ['https://a.example/', 'https://a.example/b?x=1', 'https://a.example/é']),
    query_daily: listed('query', [...QUERIES, 'cheapacmes', 'CAFÉ']),
    alerts: uuids(draw, id).map((alert) =>
      of({
        id: alert,
        type: draw.one(['keyword_drop', 'traffic_drop']),
        kind: 'a label',
        severity: draw.one(['info', 'warning', 'critical']),
        title: `title ${draw.number(0, 9)}`,
        body: '',
        date: draw.once(2) ? day(draw.number(0, 74)) : null,
        keyword_id: draw.once(2) && keywordIds.length > 0 ? draw.one(keywordIds) : null,
        url: draw.once(2) ? 'https://app.example/x' : null,
        created_at: draw.instant(),
        resolved_at: draw.once(2) ? '2026-03-11T00:00:00Z' : null,
      }),
    ),
    notes: uuids(draw, id).map((note) => noteOf(draw, note, id, keywords, groups)),
  };
}

/** Folders in folders, members, and rules of every kind. */
function groupsOf(
  draw: Draw,
  of: (more: Row) => Row,
  keywordIds: readonly string[],
): Record<'groups' | 'members', Row[]> {
  const groups: Row[] = [];
  const members: Row[] = [];
  const folders: string[] = [];
  for (const [at, id] of IDS.slice(0, 9).entries()) {
    const kind = at < 2 ? 'folder' : draw.one(['folder', 'manual', 'rule', 'rule']);
    const parent = folders.length > 0 && !draw.once(4) ? draw.one(folders) : null;
    if (kind === 'folder') folders.push(id);
    if (kind === 'manual') members.push(...draw.some(keywordIds).map((keyword_id) => of({ group_id: id, keyword_id })));
    const rule = {
      match: draw.one(['all', 'any']),
      conditions: [condition(draw), ...(draw.once(2) ? [condition(draw)] : [])],
    };
    groups.push(
      of({
        id,
        name: `group ${id}`,
        kind,
        parent_id: parent,
        position: draw.number(0, 3),
        pinned: draw.once(2),
        rule: kind === 'rule' ? rule : null,
      }),
    );
  }
  return { groups, members };
}

function condition(draw: Draw): Row {
  const field = draw.one(['query', 'query', 'intent', 'source', 'clicks', 'impressions', 'ctr', 'position']);
  if (['query', 'intent', 'source'].includes(field)) {
    const op = draw.one(['contains', 'not_contains', 'equals', 'not_equals', 'starts_with', 'ends_with', 'matches']);
    return { field, op, value: draw.one(['acme', 'É', 'B', 'a', 'manual', 'commercial', 'al', 's']) };
  }
  const values: Record<string, number[]> = {
    clicks: [0, 2, 10],
    impressions: [0, 20, 40],
    ctr: [0, 0.05, 0.5],
    position: [1, 2.5, 3],
  };
  return { field, op: draw.one(['eq', 'neq', 'lt', 'lte', 'gt', 'gte']), value: draw.one(values[field]!) };
}

function uuids(draw: Draw, project: string): string[] {
  const end = Buffer.from(project).toString('hex').padEnd(12, '0');
  return Array.from({ length: draw.number(3, 9) }, (_, at) => `${8 - at}0000000-0000-4000-8000-${end}`);
}

function noteOf(draw: Draw, id: string, project: string, keywords: readonly Row[], groups: readonly Row[]): Row {
  const scope = draw.one(['workspace', 'project', 'page', ...(keywords.length > 0 ? ['keyword'] : []), 'group']);
  const date = draw.number(0, 74);
  return {
    id,
    workspace_id: 'acme',
    project_id: scope === 'workspace' ? null : project,
    scope,
    date: day(date),
    end_date: draw.once(2) ? day(date + draw.number(0, 9)) : null,
    category: draw.one(['launch', 'content', 'technical', 'migration', 'campaign', 'other']),
    text: 'words',
    client_visible: draw.once(2),
    author: 'A. Writer',
    group_id: scope === 'group' ? draw.one(groups)['id'] : null,
    keyword_id: scope === 'keyword' ? draw.one(keywords)['id'] : null,
    page: scope === 'page' ? 'https://a.example/b' : null,
    created_at: draw.instant(),
    updated_at: draw.instant(),
  };
}

/** Rows of a whole snapshot: a project with most days, one with few, one before its first sync, one that is not set up. */
function world(draw: Draw): Tables {
  const about = (id: string, more: Row): Row => ({
    id,
    workspace_id: 'acme',
    domain: `${id}.example`,
    property: `sc-domain:${id}.example`,
    country: draw.one([null, 'usa']),
    language: draw.one([null, 'en']),
    brand_terms: draw.one([[], ['Acme'], ['acme', 'ÉTÉ']]),
    last_synced_at: '2026-03-11T04:05:06.789Z',
    synced_through: LAST_DAY,
    provisional_after: '2026-03-07',
    history_backfilling: draw.once(2),
    created_at: draw.instant(),
    ...more,
  });
  const never = { last_synced_at: null, synced_through: null, provisional_after: null };
  const facts = [project(draw, 'Full1', IDS, 'most'), project(draw, 'Few01', [...IDS].reverse(), 'few')];
  const fresh = project(draw, 'Fresh', IDS, 'few');
  const tables: Record<string, Row[]> = {
    workspaces: [
      { id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: draw.number(30, 60) },
      { id: 'other', name: 'Other', plan: 'team', keyword_history_days: 9 },
    ],
    projects: [
      about('Full1', {}),
      about('Few01', { synced_through: '2026-03-04', sync_status: 'warning' }),
      about('Fresh', never),
      about('NotYe', { setup_finished: false }),
      about('Alien', { workspace_id: 'other' }),
    ],
  };
  for (const one of [...facts, fresh]) {
    for (const [table, rows] of Object.entries(one)) tables[table] = [...(tables[table] ?? []), ...rows];
  }
  return tables;
}

export const randomWorld: fc.Arbitrary<Tables> = fc.gen().map((gen) => world(new Draw(gen)));

const WRONG_RANGES = [
  ...['0d', '487d', '0m', '17m', '2w', ''].map((period) => `period=${period}`),
  ...['2026-02-30', '26-01-01', '', '2024-10-01'].map((from) => `from=${from}`),
  'to=2026-13-01',
  'from=2026-03-01&from=2026-03-01',
  'from=2026-03-01&period=7d',
  'from=2026-03-02&to=2026-03-01',
];

/** A path below the API's root, right ones and wrong ones. */
function request(draw: Draw): string {
  const project = draw.once(12)
    ? draw.one(['NotYe', 'Alien', 'nosuc'])
    : draw.one(['Full1', 'Full1', 'Few01', 'Fresh']);
  const words: string[] = [];
  const say = (name: string, value: string | number): void => void words.push(`${name}=${encodeURIComponent(value)}`);
  const anyDay = (): string => day(draw.number(-10, 85));
  // One thing is wrong at most: which of several is named first is nobody's business.
  const wrong = draw.one(['nothing', 'nothing', 'nothing', 'nothing', 'range', 'others']);
  let mistakes = wrong === 'others' ? 1 : 0;
  const maybe = (name: string, right: readonly string[], mistaken: readonly string[]): void => {
    if (mistakes > 0 && draw.once(2)) {
      mistakes--;
      say(name, draw.one(mistaken));
    } else if (draw.once(2)) {
      say(name, draw.one(right));
    }
  };
  const range = (): void => {
    if (wrong === 'range') {
      words.push(draw.one(WRONG_RANGES));
    } else if (wrong === 'nothing') {
      const to = draw.number(-10, 85);
      const way = draw.one(['period', 'from', 'from and to', 'from and to', 'to', 'none']);
      if (['from and to', 'to'].includes(way) || (way === 'period' && draw.once(2))) say('to', day(to));
      if (way === 'period') say('period', draw.one(['1d', '7d', '28d', '60d', '486d', '1m', '2m', '16m']));
      if (way === 'from') say('from', anyDay());
      if (way === 'from and to') say('from', day(to - draw.number(0, 70)));
    }
  };
  const paging = (most: number): void => {
    maybe('limit', ['1', '3', String(most)], ['0', '-1', '1e1', '', String(most + 1)]);
    maybe('offset', ['0', '2', '5', '1000'], ['-1', ' 1', '0x1']);
  };
  const country = (): void => maybe('country', ['usa', 'DEU', 'fra', 'gbr'], ['other', 'us']);
  const device = (): void => maybe('device', ['all', 'desktop', 'mobile', 'tablet'], ['phone', '']);
  const endpoint = draw.one([
    'keywords',
    'keywords',
    'keywords',
    'site',
    'site',
    'breakdowns',
    'breakdowns',
    'pages',
    'queries',
    'alerts',
    'notes',
    'groups',
    'page-groups',
    '',
  ]);
  if (endpoint === '') return '/projects';
  if (!['alerts', 'notes', 'groups', 'page-groups'].includes(endpoint)) range();
  if (endpoint === 'keywords') {
    device();
    paging(5000);
    maybe('daily', ['1', 'true', '0', 'false'], ['yes']);
    if (draw.once(2)) say('group', draw.once(9) ? 'nosuc' : draw.one(IDS.slice(0, 9)));
  }
  if (endpoint === 'site') {
    if (wrong === 'others' && draw.once(3)) words.push('country=usa&device=mobile');
    else if (draw.once(2)) country();
    else device();
  }
  if (endpoint === 'pages' || endpoint === 'queries') {
    country();
    paging(25_000);
  }
  if (endpoint === 'alerts') {
    maybe('status', ['open', 'resolved', 'all'], ['closed']);
    maybe('since', [anyDay()], ['2026-02-29']);
    maybe('limit', ['1', '2', '500'], ['501', '0']);
  }
  if (endpoint === 'notes') {
    const from = draw.number(-10, 85);
    maybe('from', [day(from)], ['2026-3-1']);
    maybe('to', [day(from + draw.number(-2, 40))], ['today']);
    maybe('clientVisible', ['1', 'true', '0', 'false'], ['TRUE']);
  }
  return `/projects/${project}/${endpoint}${words.length > 0 ? `?${words.join('&')}` : ''}`;
}

export const randomRequest: fc.Arbitrary<string> = fc.gen().map((gen) => request(new Draw(gen)));
