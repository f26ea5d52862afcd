// Random requests about an untidy world: right ones, and ones with a single mistake.
import type { Random } from '../random.ts';
import { FIELDS } from './oracle-select.ts';
import { byText, text } from './oracle-terms.ts';
import { IDS, LAST, NUMBER_OPERATORS, PARTS, TEXT_OPERATORS, TEXTS, URLS, VALUES } from './untidy-world.ts';

type Words = Record<string, string>;
/** Draws the values of some parameters. */
type Part = (dice: Random) => Words;

const day = (dice: Random, from: number, to: number): string => text(LAST + dice.whole(from, to));

const range: Part = (dice) => {
  const to = dice.whole(-85, 12);
  const way = dice.pick([
    'period',
    'from',
    'from and to',
    'from and to',
    'month',
    'months',
    'to',
    'final',
    'none',
    'none',
  ]);
  const days = dice.pick([0, 6, 7, dice.whole(0, 70), 484, 485]);
  if (way === 'from and to') return { from: text(LAST + to - days), to: text(LAST + to) };
  if (way === 'from') return { from: day(dice, -60, 6) };
  if (way === 'month') return { from: '2026-02-01', to: '2026-02-28' };
  if (way === 'months')
    return { from: dice.pick(['2026-01-01', '2025-12-01']), to: dice.pick(['2026-01-31', '2026-02-28']) };
  if (way === 'to') return { to: text(LAST + to) };
  if (way === 'final') return { to: 'final', period: dice.pick(['7d', '28d', '1m']) };
  if (way === 'none') return {};
  const period = dice.pick(['1d', '7d', '28d', '60d', '485d', '486d', '1m', '2m', '15m', '16m']);
  return { period, ...(dice.once(2) ? { to: text(LAST + to) } : {}) };
};

const compare: Part = (dice) => {
  const way = dice.pick(['none', 'previous', 'previous', 'year', 'days', 'month']);
  if (way === 'none') return {};
  if (way === 'month')
    return { compare: dice.pick(['2026-01-01..2026-01-31', '2025-12-01..2026-01-31', '2026-02-01..2026-02-28']) };
  if (way !== 'days') return { compare: way };
  const from = dice.whole(-80, 0);
  return { compare: `${text(LAST + from)}..${text(LAST + from + dice.pick([0, 6, 27, 40]))}` };
};

const one =
  (name: string, values: readonly string[], times = 2): Part =>
  (dice) =>
    dice.once(times) ? { [name]: dice.pick(values) } : {};

/** Pages that end a row before the last one, with it, and behind it. */
const paging =
  (rows: number, most: number): Part =>
  (dice) => ({
    ...(dice.once(2) ? { limit: dice.pick(['1', '2', ...[rows - 1, rows, rows + 1, most].map(String)]) } : {}),
    ...(dice.once(3) ? { offset: dice.pick(['0', '1', '5', ...[rows - 1, rows, rows + 1].map(String)]) } : {}),
  });

/** Conditions on the fields of a kind of rows, in either notation, and orders. */
const selection =
  (kind: string): Part =>
  (dice) => {
    const texts = FIELDS[kind]!;
    const name = texts[0]!;
    const values =
      kind === 'pages'
        ? [...URLS, '/b', 'A.EXAMPLE', 'É']
        : kind === 'portfolio'
          ? ['SHOP', 'one.example', '.']
          : [...TEXTS, ...PARTS];
    const condition = (): Record<string, unknown> => {
      const field = dice.pick([name, ...texts, ...Object.keys(VALUES)]);
      const numbers = VALUES[field];
      if (numbers !== undefined) return { field, op: dice.pick(NUMBER_OPERATORS), value: dice.pick(numbers) };
      if (field === 'branded' || field === 'tracked')
        return { field, op: dice.pick(['eq', 'neq']), value: dice.pick(['true', 'false']) };
      if (field === 'source' || field === 'intent')
        return { field, op: 'contains', value: dice.pick(['a', 'MANUAL', 'Commercial']) };
      if (field === 'syncStatus') return { field, op: 'equals', value: dice.pick(['ok', 'Warning']) };
      const exact = dice.once(4) ? { caseSensitive: true } : {};
      if (dice.once(8)) return { field, op: 'matches', value: dice.pick(['^B', 'o+', 'acme$', '[0-9]']), ...exact };
      return { field, op: dice.pick(TEXT_OPERATORS.slice(0, -1)), value: dice.pick(values), ...exact };
    };
    const conditions = Array.from({ length: dice.whole(1, 3) }, condition);
    const short = conditions
      .map(
        ({ field, op, value, caseSensitive }) =>
          `${String(field)}:${String(op)}${caseSensitive === true ? '~' : ''}:${String(value).replaceAll(';', '\\;')}`,
      )
      .join(';');
    const filter = dice.once(2) ? short : JSON.stringify({ match: dice.pick(['all', 'any']), conditions });
    const keys = dice.shuffled([...texts, ...Object.keys(VALUES)]).slice(0, dice.whole(1, 2));
    return {
      ...(dice.once(3) ? { filter } : {}),
      ...(dice.once(2) ? { sort: keys.map((key) => dice.pick(['', '-']) + key).join() } : {}),
    };
  };

const device = one('device', ['all', 'desktop', 'mobile', 'tablet'], 3);
const country = one('country', ['usa', 'DEU', 'fra', 'gbr', 'aut'], 3);
const quality = one('quality', ['1', 'true', '0'], 4);
const type: Part = (dice) => ({
  ...one('type', ['web', 'image', 'image', 'video', 'news', 'discover', 'googleNews'], 2)(dice),
  ...one('engine', ['google', 'bing', 'bing'], 6)(dice),
});
/** Positions of what has none. */
const unknownPlaces: Part = (dice) =>
  dice.once(8)
    ? {
        type: dice.pick(['discover', 'googleNews']),
        ...dice.pick([{ sort: '-position' }, { filter: 'position:gt:2' }]),
      }
    : {};
const hour: Part = (dice) => {
  const instants = [
    '2026-03-08T01:59:59-08:00',
    '2026-03-08T10:00:00Z',
    '2026-03-08T03:00:00.5-07:00',
    '2026-03-06T08:00Z',
  ];
  const limit = (from: number, to: number): string =>
    dice.once(2) ? day(dice, from, to) : dice.once(2) ? dice.pick(instants) : `${day(dice, from, to)}T17:30:00-07:00`;
  const long = dice.pick([-58, -57]);
  if (dice.once(6)) return { from: text(LAST + long), to: text(LAST + 4) };
  return { ...(dice.once(5) ? {} : { from: limit(-14, -3) }), ...(dice.once(3) ? {} : { to: limit(-3, 6) }) };
};
const daily: Part = (dice) =>
  dice.once(2) ? {} : { daily: '1', ...(dice.once(2) ? { interval: dice.pick(['day', 'week', 'month']) } : {}) };
const texts = TEXTS.length;

/** The parameters of each endpoint, and whether it has formats of flat rows. */
export const ENDPOINTS: Readonly<
  Record<string, { readonly parts: readonly Part[]; readonly share: number; readonly isFlat?: false }>
> = {
  keywords: {
    share: 5,
    parts: [
      range,
      compare,
      device,
      quality,
      daily,
      paging(texts - 2, 5000),
      selection('keywords'),
      one('group', IDS.slice(0, 9), 3),
    ],
  },
  site: {
    share: 4,
    parts: [
      range,
      compare,
      quality,
      type,
      (dice) => (dice.once(2) ? country(dice) : device(dice)),
      one('interval', ['day', 'week', 'month']),
    ],
  },
  hours: { share: 2, parts: [hour] },
  breakdowns: { share: 4, parts: [range, compare, quality, type] },
  pages: { share: 3, parts: [range, compare, country, quality, paging(URLS.length, 25_000), selection('pages')] },
  queries: { share: 4, parts: [range, compare, country, quality, paging(texts + 3, 25_000), selection('queries')] },
  surfaces: { share: 1, parts: [range, compare] },
  portfolio: {
    share: 3,
    parts: [range, compare, device, quality, type, daily, paging(6, 5000), selection('portfolio'), unknownPlaces],
  },
  projects: { share: 1, parts: [] },
  alerts: {
    share: 1,
    parts: [
      one('status', ['open', 'resolved', 'all']),
      one('since', ['2026-03-02', '2026-03-05']),
      one('limit', ['1', '99', '100', '101', '500']),
    ],
  },
  notes: {
    share: 1,
    parts: [
      (dice) => ({
        ...(dice.once(2) ? { from: day(dice, -70, -20) } : {}),
        ...(dice.once(2) ? { to: day(dice, -20, 5) } : {}),
      }),
      one('clientVisible', ['1', 'false']),
    ],
  },
  groups: { share: 1, parts: [], isFlat: false },
  'page-groups': { share: 1, parts: [], isFlat: false },
};

/** Single mistakes, by the parameter that an answer must name. */
const MISTAKES: Readonly<Record<string, readonly string[]>> = {
  period: ['0d', '487d', '0m', '17m', '2w', ''],
  from: ['2026-02-30', '26-01-01', '', '2024-10-01'],
  to: ['2026-13-01', 'last', ''],
  compare: ['last', '2026-01-02..2026-01-01', '2020-01-01..2026-01-01', '2026-02-30..2026-03-01', ''],
  device: ['phone', ''],
  country: ['other', 'us'],
  limit: ['0', '-1', '1e1', '', '25001'],
  offset: ['-1', ' 1', '0x1'],
  daily: ['yes'],
  quality: ['2'],
  interval: ['year'],
  type: ['shopping', 'bing'],
  engine: ['yahoo'],
  filter: [
    'query:like:x',
    'nothing:eq:1',
    'clicks:eq:many',
    'x',
    'branded:eq:yes',
    'syncStatus:equals:no',
    'clicks:gt~:1',
    'tracked:eq~:true',
  ],
  sort: ['nothing', 'clicks,-clicks', '--clicks'],
  status: ['closed'],
  since: ['2026-02-29'],
  clientVisible: ['TRUE'],
};

const FORMATS = ['csv', 'ndjson', 'arrow', 'parquet'];

/** Right parameters of an endpoint. */
export function drawn(dice: Random, endpoint: string): Words {
  return Object.assign({}, ...ENDPOINTS[endpoint]!.parts.map((part) => part(dice))) as Words;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
};

/** One of the ways in which a request with `format` may be sent. */
export function wayOf(dice: Random, path: string): { url: string; accept?: string } {
  const [place = '', query = ''] = path.split('?');
  const { format, ...words } = Object.fromEntries(new URLSearchParams(query));
  const way = format === undefined ? 'format' : dice.pick(['format', 'ending', 'header']);
  if (way === 'format') return { url: path };
  const rest = new URLSearchParams(words).toString().replaceAll('+', '%20');
  return way === 'ending'
    ? { url: `${place}.${format}?${rest}` }
    : { url: `${place}?${rest}`, accept: MEDIA_TYPES[format!]! };
}

/** A path below the API's root. */
export function randomRequest(dice: Random): string {
  const all = Object.entries(ENDPOINTS).flatMap(([name, { share }]) => Array.from({ length: share }, () => name));
  const endpoint = dice.pick(all);
  const { parts, isFlat = true } = ENDPOINTS[endpoint]!;
  const isMistaken = parts.length > 0 && dice.once(8);
  const words = isMistaken ? mistake(dice, parts) : drawn(dice, endpoint);
  if (!isMistaken && isFlat && dice.once(3)) words['format'] = dice.pick(FORMATS);
  const query = new URLSearchParams(words).toString().replaceAll('+', '%20');
  const project = dice.once(15)
    ? dice.pick(['NotYe', 'Alien', 'nosuc'])
    : dice.pick(['Full1', 'Full1', 'Full1', 'Twin1', 'Few01', 'One01', 'Fresh']);
  const isLong = ['keywords', 'queries', 'pages'].includes(endpoint) && dice.once(12);
  const path =
    endpoint === 'projects' || endpoint === 'portfolio'
      ? `/${endpoint}`
      : `/projects/${isLong ? 'Long1' : project}/${endpoint}`;
  return query === '' ? path : `${path}?${query}`;
}

/** One wrong value of a parameter that the endpoint has, alone. */
function mistake(dice: Random, parts: readonly Part[]): Words {
  const known = new Set<string>();
  for (let draw = 0; draw < 40; draw++)
    for (const part of parts) for (const name of Object.keys(part(dice))) known.add(name);
  const name = dice.pick([...known].filter((one) => one in MISTAKES).toSorted(byText));
  return { [name]: dice.pick(MISTAKES[name]!) };
}
