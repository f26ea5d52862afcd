import type { Random } from '../random.ts';
import type { Row, Tables } from '../world.ts';
import type { Filter, Question } from './question-oracle.ts';
import { NUMBER_OPERATORS, VALUES as NUMBERS, PARTS as TEXT_PARTS, TEXTS, URLS } from './untidy-world.ts';

const DIMENSIONS = ['query', 'page', 'country', 'device', 'appearance', 'brand', 'group', 'pageGroup', 'keyword'];
const METRICS = ['clicks', 'impressions', 'ctr', 'position'];
const FIRST = Date.parse('2025-12-20');

const VALUES: Readonly<Record<string, readonly string[]>> = {
  query: [...TEXTS, 'nothing', 'acme boots'],
  keyword: [...TEXTS, 'nothing'],
  page: [...URLS, 'https://a.example/nothing'],
  country: ['usa', 'gbr', 'deu', 'fra'],
  device: ['desktop', 'mobile', 'tablet'],
  appearance: ['VIDEO', 'AMP_TOP', 'FAQ', 'NONE'],
  brand: ['brand', 'non_brand'],
};
const PARTS = [
  'a',
  's',
  'É',
  'acme',
  'HTTPS://a.example/',
  '/b',
  ' ',
  '?x=1',
  'ß',
  'SS',
  'k',
  'ΣΕΥΣ',
  'ƛ',
  ...TEXT_PARTS,
];
const EXPRESSIONS = [
  '^b',
  'sho+es$',
  '[A-Z]',
  'é|É',
  '^https://a\\.example/.+$',
  '\\bsale\\b',
  'σ',
  '[а-я]+ ',
  'k$',
  'ƛ',
];

const day = (at: number): string => new Date(FIRST + at * 86_400_000).toISOString().slice(0, 10);
/** Whole months from that of the first day on. */
const months = (first: number, count: number): { from: string; to: string } => {
  const dayOf = (month: number, date: number): string => new Date(Date.UTC(2025, 11 + month, date)).toISOString();
  return { from: dayOf(first, 1).slice(0, 10), to: dayOf(first + count, 0).slice(0, 10) };
};

function filterOf(
  dice: Random,
  names: readonly string[],
  groups: Readonly<Record<string, readonly string[]>>,
  depth: number,
): Filter {
  const inner = (): Filter => filterOf(dice, names, groups, depth + 1);
  const kind = depth > 2 ? 'test' : dice.pick(['test', 'test', 'test', 'test', 'sum', 'and', 'or', 'not']);
  if (kind === 'sum') {
    const metric = dice.pick(METRICS);
    // Sums of several days are larger than the numbers of rules.
    const larger = metric === 'ctr' ? [0.3, 0.31] : metric === 'position' ? [10, 19, 21] : [1000, 1e6, 3e7, 1e8];
    return [dice.pick(NUMBER_OPERATORS), metric, [dice.pick([...NUMBERS[metric]!, ...larger])]];
  }
  if (kind === 'not') return ['not', inner()];
  if (kind !== 'test') return [kind, inner(), ...(dice.once(2) ? [inner()] : [])];
  const name = dice.pick(names);
  const isText = ['query', 'page', 'keyword'].includes(name);
  const op = isText ? dice.pick(['equals', 'equals', 'contains', 'starts_with', 'ends_with', 'matches']) : 'equals';
  const from = op === 'equals' ? (VALUES[name] ?? groups[name]!) : op === 'matches' ? EXPRESSIONS : PARTS;
  const isId = name === 'group' || name === 'pageGroup';
  const cased = (value: string): string =>
    op === 'matches' || isId
      ? value
      : dice.pick([value, value, value, value.toUpperCase(), name === 'appearance' ? value : value.toLowerCase()]);
  const values = Array.from({ length: dice.whole(1, 3) }, () => cased(dice.pick(from)));
  const options = isText && dice.once(4) ? [{ caseSensitive: true }] : dice.once(40) ? [{ caseSensitive: true }] : [];
  return [op, name, [...new Set(values)], ...options];
}

function question(dice: Random, groups: Readonly<Record<string, readonly string[]>>): Question {
  // Mostly what is stored together.
  const together = dice
    .pick([
      ['device'],
      ['brand'],
      ['appearance'],
      ['country'],
      ['keyword', 'group', 'device'],
      ['keyword', 'group', 'device'],
      ['query', 'country'],
      ['page', 'pageGroup', 'country'],
      ['keyword', 'page', 'group', 'pageGroup'],
      DIMENSIONS,
    ])
    .filter((name) => (groups[name]?.length ?? 1) > 0);
  const some = together.filter(() => dice.pick([true, false, false]));
  const dimensions = dice.shuffled(some);
  if (dice.pick([true, false]))
    dimensions.splice(dice.whole(0, dimensions.length), 0, dice.pick(['date', 'week', 'month']));
  const filters = Array.from({ length: dice.pick([0, 0, 0, 1, 1, 2]) }, () => filterOf(dice, together, groups, 0));
  const from = dice.pick([dice.whole(0, 90), dice.whole(70, 90)]);
  const days = dice.pick([dice.whole(0, 10), dice.whole(0, 60)]);
  const compared = dice.whole(0, 80);
  const fields = [...dimensions, ...METRICS];
  const isOfMonths = dice.pick([true, false, false, false]);
  const isCompared = dice.pick([true, false, false, isOfMonths]);
  const other = isOfMonths
    ? months(dice.whole(0, 3), dice.whole(1, 3))
    : { from: day(compared), to: day(compared + dice.pick([days, dice.whole(0, 40)])) };
  return {
    range: isOfMonths ? months(dice.whole(0, 3), dice.whole(1, 3)) : { from: day(from), to: day(from + days) },
    dimensions,
    filters,
    ...(dice.pick([true, false]) ? { metrics: METRICS.filter(() => dice.pick([true, true, false])) } : {}),
    ...(dice.pick([true, false, false])
      ? { sort: [`${dice.pick(['', '-'])}${dice.pick(fields)}`, `${dice.pick(['', '-'])}${dice.pick(fields)}`] }
      : {}),
    ...(dice.pick([true, false, false])
      ? { limit: dice.whole(1, 20), offset: dice.pick([0, 0, dice.whole(0, 40)]) }
      : {}),
    ...(isCompared ? { compare: other } : {}),
  };
}

/** A question about a project of a world. */
export function randomQuestion(dice: Random, tables: Tables, project: string): Question {
  const ids = (table: string): string[] =>
    (tables[table] ?? []).filter((row) => row['project_id'] === project).map(({ id }) => String(id));
  const asked = question(dice, { group: ids('groups'), pageGroup: ids('page_groups') });
  return asked.metrics?.length === 0 ? { ...asked, metrics: METRICS } : asked;
}

/** The same world, with days of which an import knew the whole only, and tables that are shorter than others. */
export function withGaps(tables: Tables): Tables {
  const isOf = (row: Row): boolean => row['project_id'] === 'Few01';
  const isWhole = (row: Row): boolean => isOf(row) && String(row['date']).endsWith('3');
  const changed = (table: string, column: string): Row[] => {
    const rows = tables[table]!;
    const first = new Set<string>();
    return rows.flatMap((row) => {
      if (!isWhole(row)) return [row];
      const date = String(row['date']);
      if (first.has(date)) return [];
      first.add(date);
      return [{ ...row, [column]: 'unknown' }];
    });
  };
  return {
    ...tables,
    site_daily: changed('site_daily', 'device'),
    brand_daily: changed('brand_daily', 'segment'),
    query_daily: tables['query_daily']!.filter((row) => !(isOf(row) && String(row['date']) > '2026-02-20')),
    page_daily: tables['page_daily']!.filter(
      (row) => !(row['project_id'] === 'Full1' && String(row['date']) < '2026-01-20'),
    ),
  };
}
