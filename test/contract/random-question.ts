import fc from 'fast-check';
import type { Row, Tables } from '../world.ts';
import type { Filter, Question } from './question-oracle.ts';
import { drawNumber } from './random-world.ts';

const DIMENSIONS = ['query', 'page', 'country', 'device', 'appearance', 'brand', 'group', 'pageGroup', 'keyword'];
const METRICS = ['clicks', 'impressions', 'ctr', 'position'];
const FIRST = Date.parse('2025-12-20');

const VALUES: Readonly<Record<string, readonly string[]>> = {
  query: ['Red shoes', 'ACME', 'cafÉ', 'b', '\u{1f40d} skin', 'nothing', 'acme boots'],
  keyword: ['Red shoes', 'ACME', 'cafÉ', 'b', '\u{1f40d} skin', 'nothing', 'acme boots'],
  page: ['https://a.example/', 'https://a.example/é', 'https://b.example/'],
  country: ['usa', 'gbr', 'deu', 'fra'],
  device: ['desktop', 'mobile', 'tablet'],
  appearance: ['VIDEO', 'AMP_TOP', 'FAQ', 'NONE'],
  brand: ['brand', 'non_brand'],
};
const PARTS = ['a', 's', 'É', 'acme', 'https://a.example/', '/b', ' ', '?x=1'];
const EXPRESSIONS = ['^b', 'sho+es$', '[A-Z]', 'é|É', '^https://a\\.example/.+$', '\\bsale\\b'];

type Draw = fc.GeneratorValue;

const day = (at: number): string => new Date(FIRST + at * 86_400_000).toISOString().slice(0, 10);
/** Whole months from that of the first day on. */
const months = (first: number, count: number): { from: string; to: string } => {
  const dayOf = (month: number, date: number): string => new Date(Date.UTC(2025, 11 + month, date)).toISOString();
  return { from: dayOf(first, 1).slice(0, 10), to: dayOf(first + count, 0).slice(0, 10) };
};

function filterOf(
  draw: Draw,
  names: readonly string[],
  groups: Readonly<Record<string, readonly string[]>>,
  depth: number,
): Filter {
  const one = <T>(from: readonly T[]): T => from[drawNumber(draw, 0, from.length - 1)]!;
  const inner = (): Filter => filterOf(draw, names, groups, depth + 1);
  const kind = depth > 2 ? 'test' : one(['test', 'test', 'test', 'test', 'and', 'or', 'not']);
  if (kind === 'not') return ['not', inner()];
  if (kind !== 'test') return [kind, inner(), ...(draw(fc.boolean) ? [inner()] : [])];
  const name = one(names);
  const isText = ['query', 'page', 'keyword'].includes(name);
  const op = isText ? one(['equals', 'equals', 'contains', 'starts_with', 'ends_with', 'matches']) : 'equals';
  const from = op === 'equals' ? (VALUES[name] ?? groups[name]!) : op === 'matches' ? EXPRESSIONS : PARTS;
  const values = Array.from({ length: drawNumber(draw, 1, 3) }, () => one(from));
  return [op, name, [...new Set(values)]];
}

function question(draw: Draw, groups: Readonly<Record<string, readonly string[]>>): Question {
  const number = (min: number, max: number): number => drawNumber(draw, min, max);
  const one = <T>(from: readonly T[]): T => from[number(0, from.length - 1)]!;
  // Mostly what is stored together.
  const together = one([
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
  ]).filter((name) => (groups[name]?.length ?? 1) > 0);
  const some = together.filter(() => one([true, false, false]));
  const dimensions = fc.sample(fc.shuffledSubarray(some, { minLength: some.length }), {
    numRuns: 1,
    seed: number(0, 1e6),
  })[0]!;
  if (one([true, false])) dimensions.splice(number(0, dimensions.length), 0, one(['date', 'week', 'month']));
  const filters = Array.from({ length: one([0, 0, 0, 1, 1, 2]) }, () => filterOf(draw, together, groups, 0));
  const from = one([number(0, 90), number(70, 90)]);
  const days = one([number(0, 10), number(0, 60)]);
  const compared = number(0, 80);
  const fields = [...dimensions, ...METRICS];
  const isOfMonths = one([true, false, false, false]);
  const isCompared = one([true, false, false, isOfMonths]);
  const other = isOfMonths
    ? months(number(0, 3), number(1, 3))
    : { from: day(compared), to: day(compared + one([days, number(0, 40)])) };
  return {
    range: isOfMonths ? months(number(0, 3), number(1, 3)) : { from: day(from), to: day(from + days) },
    dimensions,
    filters,
    ...(one([true, false]) ? { metrics: METRICS.filter(() => one([true, true, false])) } : {}),
    ...(one([true, false, false])
      ? { sort: [`${one(['', '-'])}${one(fields)}`, `${one(['', '-'])}${one(fields)}`] }
      : {}),
    ...(one([true, false, false]) ? { limit: number(1, 20), offset: one([0, 0, number(0, 40)]) } : {}),
    ...(isCompared ? { compare: other } : {}),
  };
}

/** A question about a project of a world. */
export function randomQuestion(tables: Tables, project: string): fc.Arbitrary<Question> {
  const ids = (table: string): string[] =>
    (tables[table] ?? []).filter((row) => row['project_id'] === project).map(({ id }) => String(id));
  const groups = { group: ids('groups'), pageGroup: ids('page_groups') };
  return fc.gen().map((draw) => {
    const asked = question(draw, groups);
    return asked.metrics?.length === 0 ? { ...asked, metrics: METRICS } : asked;
  });
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
