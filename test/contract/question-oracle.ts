// The answer to a question by going through all rows of facts one by one, with no code of the server.
import type { Row } from '../world.ts';
import { bucketOf, monthsOf, quotient } from './oracle-compare.ts';
import { isIn } from './oracle-rules.ts';
import { byNumber } from './oracle-select.ts';
import { addRow, addUp, byText, type Days, metrics, number, Refusal, type Sum, text, zero } from './oracle-terms.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

export type Filter = readonly unknown[];
export interface Question {
  readonly range: { readonly from: string; readonly to: string };
  readonly metrics?: readonly string[];
  readonly dimensions: readonly string[];
  readonly filters: readonly Filter[];
  readonly sort?: readonly string[];
  readonly limit?: number;
  readonly offset?: number;
  readonly compare?: { readonly from: string; readonly to: string };
}

const TIMES = ['date', 'week', 'month'];
const METRICS = ['clicks', 'impressions', 'ctr', 'position'];
/** What each table knows, coarsest first. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  site_daily: ['device'],
  brand_daily: ['brand'],
  appearance_daily: ['appearance'],
  country_daily: ['country'],
  keyword_daily: ['keyword', 'group', 'device'],
  query_daily: ['query', 'country'],
  page_daily: ['page', 'pageGroup', 'country'],
  keyword_page_daily: ['keyword', 'group', 'page', 'pageGroup'],
};

class Refused extends Refusal {
  constructor() {
    super(400, 'invalid_request');
  }
}

interface Found {
  readonly names: readonly string[];
  readonly shown: Row;
  readonly sum: Sum;
  readonly base: Sum;
  /** Whether the other range has days to compare with. */
  readonly isCompared: boolean;
}

export class QuestionOracle {
  readonly #world: OracleWorld;

  constructor(world: OracleWorld) {
    this.#world = world;
  }

  /** Refuses where an answer would not be exact. */
  answer(project: Project, question: Question): object {
    const world = this.#world;
    const used = [...question.dimensions, ...question.filters.flatMap(named)].filter((name) => !TIMES.includes(name));
    const table = Object.keys(TABLES).find((name) => used.every((one) => TABLES[name]!.includes(one)));
    if (table === undefined) throw new Refused();
    const pieces = conjuncts(question.filters);
    if (table === 'appearance_daily' && !question.dimensions.includes('appearance')) {
      const isOne = pieces.some(
        ([op, , values]) =>
          op === 'equals' && new Set((values as string[]).map((value) => value.toLowerCase())).size === 1,
      );
      if (!isOne) throw new Refused();
    }
    for (const [op, name, , options] of question.filters.flatMap(conditions)) {
      const isExact = (options as { caseSensitive?: boolean } | undefined)?.caseSensitive === true;
      if (isExact && (op === 'matches' || op === 'equals') && !SEARCHED.includes(String(name))) throw new Refused();
    }
    // Beside a condition on the sums of rows, `or` and `not` can only have what rows are by.
    for (const one of parts(question.filters).filter(isOfSums)) {
      if (named(one).some((name) => !question.dimensions.includes(name))) throw new Refused();
    }
    const range = daysOf(question.range);
    const other = question.compare && daysOf(question.compare);
    if (table.startsWith('keyword')) {
      for (const days of [range, other]) {
        if (days && days.from < world.historyFrom(project)) throw new Refused();
      }
    }
    for (const days of [range, other]) if (days) this.#refuseUnknown(project, table, days, used.includes('device'));

    const facts = new Facts(world, project, table, question, range);
    const rows = facts.rows(range, other).sort(inOrder(question, facts));
    const asked = question.metrics ?? METRICS;
    const shown = ({ sum, base, isCompared }: Pick<Found, 'sum' | 'base' | 'isCompared'>): Row => {
      const [now, then] = [metrics(sum) as Row, metrics(base) as Row];
      return {
        ...pick(now, asked),
        ...(other && {
          comparison: isCompared ? pick(then, asked) : null,
          difference: isCompared ? pick(differences(sum, base), asked) : null,
        }),
      };
    };
    const overlaps = question.dimensions.includes('appearance');
    const kept = new Set(rows.map(({ names }) => JSON.stringify(names)));
    const total = {
      sum: facts.total(range, range, kept),
      base: other ? facts.total(other, range, kept) : zero(),
      isCompared: true,
    };
    const { limit = 1000, offset = 0 } = question;
    return {
      grain: table,
      aggregation: table.includes('page') ? 'page' : 'property',
      rows: rows.slice(offset, offset + limit).map((row) => ({ ...row.shown, ...shown(row) })),
      totals: overlaps ? null : shown(total),
      remainder: this.#remainder(project, table, question, pieces, overlaps ? null : total.sum, range),
      paging: { total: rows.length, limit, offset },
    };
  }

  /** What the property has more than the rows. */
  #remainder(
    project: Project,
    table: string,
    { dimensions }: Question,
    pieces: readonly Filter[],
    total: Sum | null,
    range: Days,
  ): Row {
    const why: string[] = [];
    const by = ['device', 'country'].find((name) => TABLES[table]!.includes(name))!;
    const own = pieces.filter(
      (piece) => by !== undefined && !isOfSums(piece) && named(piece).every((name) => name === by),
    );
    if (own.length < pieces.length) why.push('filtered');
    if (['brand_daily', 'query_daily'].includes(table)) why.push('anonymised');
    if (table.startsWith('keyword')) why.push('not_tracked');
    if (dimensions.includes('group') || dimensions.includes('pageGroup')) why.push('not_grouped');
    if (table === 'country_daily') why.push('not_reported');
    if (table.includes('page')) why.push('counted_by_page');
    if (table === 'appearance_daily') why.push('overlapping');
    const unknown = { clicks: null, impressions: null };
    if (table.includes('page') || table === 'appearance_daily') return { ...unknown, why };
    const source = own.length === 0 ? 'site_daily' : by === 'device' ? 'site_daily' : 'country_daily';
    try {
      if (own.length > 0) this.#refuseUnknown(project, source, range, true);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { ...unknown, why: [...why, 'unknown'] };
    }
    const whole = addUp(
      this.#served(project, source, range).filter((row) =>
        own.every((piece) => holds(piece, (name) => [String(row[name])])),
      ),
    );
    const left = {
      clicks: Number(whole.clicks - total!.clicks),
      impressions: Number(whole.impressions - total!.impressions),
    };
    return { ...left, why: left.clicks === 0 && left.impressions === 0 ? [] : why };
  }

  #served(project: Project, table: string, days: Days): Row[] {
    return served(this.#world, project, table, days);
  }

  /** Each day that the property has must be one that the table has, or was loaded with. */
  #refuseUnknown(project: Project, table: string, days: Days, devices: boolean): void {
    const world = this.#world;
    const dates = (rows: readonly Row[]): Set<number> => new Set(rows.map(({ date }) => number(String(date))));
    const own = world.rows(project, table);
    const all = [...dates(own)];
    const site = this.#served(project, 'site_daily', days);
    const whole = dates(site.filter(({ device }) => device === 'unknown'));
    const has = dates(own);
    const first =
      table === 'appearance_daily' ? Math.min(...dates(world.rows(project, 'site_daily'))) : Math.min(...all);
    // Such rows tell that the segments of their day are not known, also where the property has none. Nothing is nothing of
    // every segment.
    const isUnnamed = this.#served(project, table, days).some(
      (row) => row['segment'] === 'unknown' && (row['impressions'] as number) > 0,
    );
    if (isUnnamed) throw new Refused();
    for (const day of dates(site)) {
      if (table === 'site_daily') {
        if (devices && whole.has(day)) throw new Refused();
        continue;
      }
      if (table === 'country_daily' && day <= world.monthlyThrough(project)) throw new Refused();
      if (has.has(day)) continue;
      if (all.length === 0 || day < first || whole.has(day)) throw new Refused();
      if (table !== 'appearance_daily' && day > Math.max(...all)) throw new Refused();
    }
  }
}

/** The rows of a project on days that are served. */
function served(world: OracleWorld, project: Project, table: string, days: Days): Row[] {
  if (project['synced_through'] === null) return [];
  return world.rows(project, table, { from: days.from, to: Math.min(days.to, world.lastDay(project)) });
}

/** Rows of facts, with the names that they have in each dimension. */
class Facts {
  readonly #world: OracleWorld;
  readonly #project: Project;
  readonly #table: string;
  readonly #question: Question;
  readonly #tracked: readonly Row[];
  readonly #groups: ReadonlyMap<string, readonly string[]>;

  constructor(world: OracleWorld, project: Project, table: string, question: Question, range: Days) {
    this.#world = world;
    this.#project = project;
    this.#table = table;
    this.#question = question;
    this.#tracked = world.tracked(project);
    const groups = world.inOrder(project, 'groups');
    const members = world.rows(project, 'group_members');
    const stored = served(world, project, 'keyword_daily', range);
    this.#groups = new Map(
      this.#tracked.map((keyword) => {
        // Rules test the totals over the range of the question, over all devices.
        const total = addUp(stored.filter((row) => row['keyword_id'] === keyword['id']));
        const ids = groups.map(({ id }) => String(id)).filter((id) => isIn(keyword, id, { groups, members, total }));
        return [String(keyword['id']), ids];
      }),
    );
  }

  /** The names of a row in a dimension, of which groups have several. */
  #namesOf(row: Row, dimension: string): readonly string[] {
    if (dimension === 'brand') return [String(row['segment'])];
    if (dimension === 'page') return [String(row['url'])];
    if (dimension === 'keyword') {
      return this.#tracked.filter(({ id }) => id === row['keyword_id']).map(({ query }) => String(query));
    }
    if (dimension === 'group') return this.#groups.get(String(row['keyword_id'])) ?? [];
    if (dimension === 'pageGroup') {
      const { pathname } = new URL(String(row['url']));
      return this.#world
        .inOrder(this.#project, 'page_groups')
        .filter((group) => {
          const { conditions } = group['rule'] as { conditions: Row[] };
          const isPinned = (group['pinned_urls'] as string[]).includes(pathname);
          return (
            isPinned || conditions.some(({ value }) => pathname.toLowerCase().startsWith(String(value).toLowerCase()))
          );
        })
        .map(({ id }) => String(id));
    }
    return [String(row[dimension])];
  }

  /** Rows of facts that count, each as often as it has names that the filters keep. */
  #counted(days: Days): { row: Row; names: string[] }[] {
    const { dimensions } = this.#question;
    const filters = parts(this.#question.filters).filter((one) => !isOfSums(one));
    return served(this.#world, this.#project, this.#table, days).flatMap((row) => {
      const isTracked = !this.#table.startsWith('keyword') || this.#namesOf(row, 'keyword').length > 0;
      if (!isTracked) return [];
      const lists = dimensions.map((name) => (TIMES.includes(name) ? [''] : this.#namesOf(row, name)));
      return combinations(lists)
        .filter((names) =>
          filters.every((filter) =>
            holds(filter, (name) => {
              const at = dimensions.indexOf(name);
              return at >= 0 ? [names[at]!] : this.#namesOf(row, name);
            }),
          ),
        )
        .map((names) => ({ row, names }));
    });
  }

  rows(range: Days, other: Days | undefined): Found[] {
    const found = new Map<string, Found>();
    const time = this.#question.dimensions.find((name) => TIMES.includes(name));
    const compared = new Set<number>();
    for (let day = other?.from ?? 0; other && time && day <= other.to; day++) {
      compared.add(besideOf(time, day, other, range)?.from ?? Number.NaN);
    }
    const add = (days: Days, into: 'sum' | 'base'): void => {
      for (const { row, names } of this.#counted(days)) {
        const bucket = time && besideOf(time, number(String(row['date'])), days, range);
        if (time && bucket === undefined) continue;
        const { names: full, shown } = this.#shown(names, bucket || range);
        const key = JSON.stringify(full);
        const isCompared = !bucket || compared.has(bucket.from);
        const known = found.get(key) ?? { names: full, shown, sum: zero(), base: zero(), isCompared };
        found.set(key, known);
        addRow(known[into], row);
      }
    };
    add(range, 'sum');
    if (other) add(other, 'base');
    const ofSums = parts(this.#question.filters).filter(isOfSums);
    const { dimensions } = this.#question;
    return [...found.values()].filter(
      ({ names, sum }) =>
        sum.clicks + sum.impressions > 0n &&
        ofSums.every((filter) => holds(filter, (name) => [names[dimensions.indexOf(name)]!], sum)),
    );
  }

  /** The sum over some days of the rows of the answer, of which a row of facts may be in several. */
  total(days: Days, range: Days, kept: ReadonlySet<string>): Sum {
    const { dimensions, filters } = this.#question;
    const time = dimensions.find((name) => TIMES.includes(name));
    const isAll = !filters.some(isOfSums);
    const rows = this.#counted(days).filter(({ row, names }) => {
      if (isAll) return true;
      const bucket = time && besideOf(time, number(String(row['date'])), days, range);
      if (time && bucket === undefined) return false;
      return kept.has(JSON.stringify(this.#shown(names, bucket || range).names));
    });
    return addUp([...new Set(rows.map(({ row }) => row))]);
  }

  /** What a row of the answer says of its dimensions. */
  #shown(names: readonly string[], bucket: Days): { names: string[]; shown: Row } {
    const { dimensions } = this.#question;
    const shown: Record<string, unknown> = {};
    const full = dimensions.map((name, at) => {
      if (!TIMES.includes(name)) {
        const isGroup = name === 'group' || name === 'pageGroup';
        const rows = isGroup ? this.#world.inOrder(this.#project, name === 'group' ? 'groups' : 'page_groups') : [];
        const group = rows.find(({ id }) => id === names[at]);
        shown[name] = group === undefined ? names[at] : { id: group['id'], name: group['name'] };
        return names[at]!;
      }
      shown[name] = text(bucket.from);
      const last = Math.min(bucket.to, this.#world.lastDay(this.#project));
      if (name !== 'date') shown['days'] = Math.max(0, last - bucket.from + 1);
      return text(bucket.from);
    });
    return { names: full, shown };
  }

  /** Names in the order of sorting: groups by their place. */
  placeOf(dimension: string, name: string): string {
    if (dimension !== 'group' && dimension !== 'pageGroup') return name;
    const rows = this.#world.inOrder(this.#project, dimension === 'group' ? 'groups' : 'page_groups');
    return String(rows.findIndex(({ id }) => id === name)).padStart(5, '0');
  }
}

/** The day, week or month of a range that a day of the other range counts for; undefined if for none. */
function besideOf(name: string, day: number, other: Days, range: Days): Days | undefined {
  const [there, here] = [monthsOf(other), monthsOf(range)];
  if (there === undefined || here === undefined) {
    const beside = range.from + day - other.from;
    return beside > range.to ? undefined : bucketOf(name, beside, range);
  }
  const at = there.findIndex(({ to }) => day <= to);
  const month = here[at];
  if (month === undefined || name === 'month') return month;
  const beside = month.from + day - there[at]!.from;
  return beside > month.to ? undefined : bucketOf(name, beside, range);
}

function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>((all, list) => all.flatMap((names) => list.map((name) => [...names, name])), [[]]);
}

/** The conditions that a filter joins. */
function conditions(filter: Filter): Filter[] {
  const [op, ...rest] = filter;
  return ['and', 'or', 'not'].includes(String(op)) ? (rest as Filter[]).flatMap(conditions) : [filter];
}

const isOfSums = (filter: Filter): boolean => conditions(filter).some(([op]) => String(op) in SUMS);

/** The dimensions that a filter tests. */
function named(filter: Filter): string[] {
  return conditions(filter)
    .filter((one) => !isOfSums(one))
    .map(([, name]) => String(name));
}

/** Filters that must hold one by one. */
function parts(filters: readonly Filter[]): Filter[] {
  return filters.flatMap((filter): Filter[] => {
    const [op, ...rest] = filter as [string, ...Filter[]];
    if (op === 'and') return parts(rest);
    if (op !== 'not') return [filter];
    const [inner, ...more] = rest[0] as unknown as [string, ...Filter[]];
    if (inner === 'not') return parts(more);
    return inner === 'or' ? parts(more.map((one) => ['not', one])) : [filter];
  });
}

function conjuncts(filters: readonly Filter[]): Filter[] {
  return filters.flatMap((filter) => (filter[0] === 'and' ? conjuncts(filter.slice(1) as Filter[]) : [filter]));
}

const TESTS: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  equals: (a, b) => a === b,
  contains: (a, b) => a.includes(b),
  starts_with: (a, b) => a.startsWith(b),
  ends_with: (a, b) => a.endsWith(b),
  matches: (a, b) => new RegExp(b, 'u').test(a),
};

/** Comparisons by the sign of a difference. */
const SUMS: Readonly<Record<string, (difference: bigint) => boolean>> = {
  eq: (difference) => difference === 0n,
  neq: (difference) => difference !== 0n,
  lt: (difference) => difference < 0n,
  lte: (difference) => difference <= 0n,
  gt: (difference) => difference > 0n,
  gte: (difference) => difference >= 0n,
};

const SEARCHED = ['query', 'page', 'keyword'];
/** What is named by ids has the case of the id. */
const IDENTIFIED = ['group', 'pageGroup'];

function holds(filter: Filter, namesOf: (dimension: string) => readonly string[], sum: Sum = zero()): boolean {
  const [op, ...rest] = filter;
  if (op === 'and') return (rest as Filter[]).every((one) => holds(one, namesOf, sum));
  if (op === 'or') return (rest as Filter[]).some((one) => holds(one, namesOf, sum));
  if (op === 'not') return !holds(rest[0] as Filter, namesOf, sum);
  const [field, values, options] = rest as [string, unknown[], { caseSensitive?: boolean }?];
  if (String(op) in SUMS) {
    const [numerator, denominator] = quotient(sum, field);
    // Values have two decimals at most.
    const value = BigInt(Math.round(Number(values[0]) * 100));
    return denominator !== 0n && SUMS[String(op)]!(numerator * 100n - value * denominator);
  }
  const isExact = options?.caseSensitive === true || IDENTIFIED.includes(field);
  const find = (name: string, value: string): boolean => {
    if (isExact) return TESTS[String(op)]!(name, value);
    if (op === 'matches') return new RegExp(value, 'iu').test(name);
    return TESTS[String(op)]!(name.toLowerCase(), value.toLowerCase());
  };
  return namesOf(field).some((name) => (values as string[]).some((value) => find(name, value)));
}

/** By the fields of `sort`, or by time; then by the most clicks, and by all dimensions. */
function inOrder(question: Question, facts: Facts): (a: Found, b: Found) => number {
  const { dimensions } = question;
  const time = dimensions.find((name) => TIMES.includes(name));
  const sort = [...(question.sort ?? (time === undefined ? [] : [time])), '-clicks', '-impressions', ...dimensions];
  return (a, b) => {
    for (const field of sort) {
      const name = field.replace(/^-/, '');
      const sign = field.startsWith('-') ? -1 : 1;
      const at = dimensions.indexOf(name);
      const difference =
        at >= 0
          ? sign * byText(facts.placeOf(name, a.names[at]!), facts.placeOf(name, b.names[at]!))
          : byNumber(quotient(a.sum, name), quotient(b.sum, name), sign);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

function daysOf({ from, to }: { from: string; to: string }): Days {
  return { from: number(from), to: number(to) };
}

function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(METRICS.filter((name) => names.includes(name)).map((name) => [name, row[name]]));
}

/** Now minus then of the unrounded values, rounded half away from zero; null where one of them is not defined. */
function differences(now: Sum, then: Sum): Row {
  return Object.fromEntries(
    METRICS.map((name) => {
      const [a, b] = quotient(now, name);
      const [c, d] = quotient(then, name);
      if (b === 0n || d === 0n) return [name, null];
      const scale = name === 'ctr' ? 10_000n : name === 'position' ? 10n : 1n;
      const top = (a * d - c * b) * scale;
      const size = top < 0n ? -top : top;
      const rounded = Number((2n * size + b * d) / (2n * b * d)) / Number(scale);
      return [name, top < 0n && rounded !== 0 ? -rounded : rounded];
    }),
  );
}
