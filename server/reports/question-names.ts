import type { PageGroup } from '../catalog/keywords.ts';
import type { TrackedKeyword, TrackedKeywords, TrackedKeywordsCache } from '../catalog/tracked.ts';
import { invalidRequest } from '../domain/errors.ts';
import { markFound, type Steps } from '../domain/expressions.ts';
import { type GroupMatch, pagesOf, selectKeywords, withDescendants } from '../domain/groups.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Question } from '../domain/question.ts';
import { type Condition, conditionsOf, dimensionsOf, type Filter } from '../domain/question-filter.ts';
import type { FactTest, GroupedBy, NamedTexts } from '../facts/sums.ts';
import type { ColumnName } from '../model/tables.ts';
import { type Dimension, isTime } from '../model/tables.ts';
import { inTurns } from '../runtime/turns.ts';
import { keywordDecider, namesByText } from './keyword-rows.ts';

/** What a group is called in rows. */
interface GroupName {
  readonly id: string;
  readonly name: string;
}

/** What a row says about a dimension, by the name that it is grouped by; null if that is the name itself. */
export type DimensionValues = ReadonlyMap<string, string | GroupName> | null;

/** How the rows of a question are grouped and chosen, besides its days. */
export interface QuestionNames {
  readonly by: readonly { readonly dimension: Dimension; readonly grouped: GroupedBy | null }[];
  readonly test: FactTest;
  /** Of each dimension. */
  readonly valuesOf: readonly DimensionValues[];
  /** Whether rows of facts may count in several rows of the answer. */
  readonly overlap: boolean;
  /** The keywords that may count; none where keywords are not asked for. */
  readonly keywords: () => readonly TrackedKeyword[];
}

/** The parts of a question that have names. */
type AskedNames = Pick<Question, 'dimensions' | 'filters' | 'grain'>;

interface NamesSources {
  readonly question: AskedNames;
  readonly tracked: TrackedKeywords;
  readonly pageGroups: readonly PageGroup[];
  readonly cache: TrackedKeywordsCache;
  /** The totals of a keyword over the range, which rules of groups may test. */
  readonly totals: () => Promise<(keyword: TrackedKeyword) => Measures>;
  /** All pages that facts of the ranges have. */
  readonly urls: () => Promise<readonly string[]>;
}

const COLUMNS: Partial<Record<Dimension, ColumnName>> = {
  query: 'query',
  page: 'url',
  country: 'country',
  device: 'device',
  appearance: 'appearance',
  brand: 'segment',
};

/** Texts that belong to groups. */
interface Members {
  readonly column: 'keyword_id' | 'url';
  readonly groups: readonly GroupName[];
  /** The texts of each group. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

/** Finds which keywords, groups and pages a question names. Throws `invalid_request` for an unknown group. */
export async function readNames(sources: NamesSources): Promise<QuestionNames> {
  const { question, tracked } = sources;
  const { dimensions, filters, grain } = question;
  const used = [...dimensions, ...filters.flatMap(dimensionsOf)];
  const members = {
    group: used.includes('group') ? await keywordMembers(sources) : undefined,
    pageGroup: used.includes('pageGroup') ? await pageMembers(sources) : undefined,
  };
  const isOfKeywords = grain === 'keyword_daily' || grain === 'keyword_page_daily';
  const by = dimensions.map((dimension) => ({ dimension, grouped: groupedBy(dimension, tracked, members) }));
  const keywords = await keywordsOfConditions(filters, tracked);
  const named = (filter: Condition): FactTest => testOf(filter, { by, keywords, members });
  const tests = filters.map((filter) => mapped(filter, named));
  // Only the keywords that are tracked now are served; names join only those.
  const isJoined = by.some(
    ({ grouped }) => grouped !== null && typeof grouped === 'object' && grouped.column === 'keyword_id',
  );
  if (isOfKeywords && !isJoined) {
    tests.push({ op: 'equals', field: 'keyword_id', fold: false, values: tracked.keywords.map(({ id }) => id) });
  }
  return {
    by,
    test: { op: 'and', of: tests },
    valuesOf: dimensions.map((dimension) => shownBy(dimension, { tracked, members })),
    overlap: dimensions.includes('group') || dimensions.includes('pageGroup'),
    keywords: () => (isOfKeywords ? mayCount(tracked, by, tests) : []),
  };
}

/** Indexes as texts that sort like numbers. */
const sortableIndex = (index: number): string => String(index).padStart(7, '0');

function groupedBy(
  dimension: Dimension,
  { keywords }: TrackedKeywords,
  members: { readonly group: Members | undefined; readonly pageGroup: Members | undefined },
): GroupedBy | null {
  if (isTime(dimension)) return null;
  if (dimension === 'keyword') return namesOfKeywords(keywords).named;
  if (dimension !== 'group' && dimension !== 'pageGroup') return COLUMNS[dimension]!;
  const { column, groups, texts } = members[dimension]!;
  const pairs = groups.flatMap(({ id }, at) => texts.get(id)!.map((text) => [text, sortableIndex(at)] as const));
  return { column, texts: pairs.map(([text]) => text), names: pairs.map(([, name]) => name) };
}

/** The names of keywords, which are sorted by their query, and the query of each name. */
interface KeywordNames {
  readonly named: NamedTexts;
  readonly queries: ReadonlyMap<string, string>;
}

/** By the keywords, a list that is made once per revision. */
const keywordNames = new WeakMap<TrackedKeywords['keywords'], KeywordNames>();

function namesOfKeywords(keywords: TrackedKeywords['keywords']): KeywordNames {
  const known = keywordNames.get(keywords);
  if (known !== undefined) return known;
  const names = keywords.map((_, at) => sortableIndex(at));
  const made: KeywordNames = {
    named: { column: 'keyword_id', texts: keywords.map(({ id }) => id), names },
    queries: new Map(names.map((name, at) => [name, keywords[at]!.query])),
  };
  keywordNames.set(keywords, made);
  return made;
}

function shownBy(
  dimension: Dimension,
  {
    tracked,
    members,
  }: { tracked: TrackedKeywords; members: Readonly<Record<'group' | 'pageGroup', Members | undefined>> },
): DimensionValues {
  if (dimension === 'keyword') return namesOfKeywords(tracked.keywords).queries;
  if (dimension !== 'group' && dimension !== 'pageGroup') return null;
  return new Map(members[dimension]!.groups.map(({ id, name }, at) => [sortableIndex(at), { id, name }]));
}

function mapped(filter: Filter, named: (condition: Condition) => FactTest): FactTest {
  if (filter.op === 'not') return { op: 'not', of: [mapped(filter.of[0], named)] };
  if ('of' in filter) return { op: filter.op, of: filter.of.map((one) => mapped(one, named)) };
  return named(filter);
}

function testOf(
  condition: Condition,
  {
    by,
    keywords,
    members,
  }: {
    by: QuestionNames['by'];
    keywords: ReadonlyMap<Condition, readonly string[]>;
    members: Readonly<Record<'group' | 'pageGroup', Members | undefined>>;
  },
): FactTest {
  const { op, dimension, values } = condition;
  if (dimension === 'keyword')
    return { op: 'equals', field: 'keyword_id', values: keywords.get(condition)!, fold: false };
  if (dimension !== 'group' && dimension !== 'pageGroup')
    return { op, field: COLUMNS[dimension]!, values, fold: false };
  const { column, groups, texts } = members[dimension]!;
  const at = by.findIndex((one) => one.dimension === dimension);
  // With the dimension, a filter keeps rows of the answer; without it, what is in one of the groups.
  if (at >= 0) {
    const names = groups.flatMap(({ id }, index) => (values.includes(id) ? [sortableIndex(index)] : []));
    return { op: 'named', by: at, values: names };
  }
  return {
    op: 'equals',
    field: column,
    values: [...new Set(values.flatMap((id) => texts.get(id) ?? []))],
    fold: false,
  };
}

/** The ids of the keywords that each condition on keywords chooses. */
async function keywordsOfConditions(
  filters: readonly Filter[],
  { keywords }: TrackedKeywords,
): Promise<ReadonlyMap<Condition, readonly string[]>> {
  const found = new Map<Condition, readonly string[]>();
  for (const condition of filters.flatMap(conditionsOf)) {
    if (condition.dimension === 'keyword') found.set(condition, await inTurns(keywordsThat(condition, keywords)));
  }
  return found;
}

/** Tests queries to the letter, as SQL tests other texts. */
function* keywordsThat({ op, values }: Condition, keywords: readonly TrackedKeyword[]): Steps<string[]> {
  if (op === 'matches') {
    let left = keywords;
    const found = new Set<TrackedKeyword>();
    for (const text of values) {
      const marks = yield* markFound({ text, ignoresCase: false }, left.length, (at) => left[at]!.query);
      for (const [at, keyword] of left.entries()) if (marks[at] === 1) found.add(keyword);
      left = left.filter((keyword) => !found.has(keyword));
    }
    return keywords.filter((keyword) => found.has(keyword)).map(({ id }) => id);
  }
  const ids: string[] = [];
  for (const { id, query } of keywords) {
    if (values.some((value) => TEXT_TESTS[op](query, value))) ids.push(id);
    yield;
  }
  return ids;
}

const TEXT_TESTS: Readonly<Record<Exclude<Condition['op'], 'matches'>, (query: string, value: string) => boolean>> = {
  equals: (query, value) => query === value,
  contains: (query, value) => query.includes(value),
  starts_with: (query, value) => query.startsWith(value),
  ends_with: (query, value) => query.endsWith(value),
};

async function keywordMembers({ question, tracked, cache, totals }: NamesSources): Promise<Members> {
  const groups = neededGroups('group', question, tracked.groups);
  const all = await Promise.all(
    groups.map(async (group) => cache.matches(tracked, withDescendants(group, tracked.groups))),
  );
  const readsSums = all.flat().some(({ withSums }) => withSums !== null);
  const measuresOf = readsSums ? await totals() : () => NO_MEASURES;
  const texts = new Map<string, string[]>();
  for (const [at, matches] of all.entries()) {
    const ids = await keywordsIn(tracked, matches, measuresOf);
    texts.set(groups[at]!.id, ids);
  }
  return { column: 'keyword_id', groups, texts };
}

const NO_MEASURES: Measures = { clicks: 0, impressions: 0, sumPosition: 0 };

async function keywordsIn(
  { keywords }: TrackedKeywords,
  matches: readonly GroupMatch[],
  measuresOf: (keyword: TrackedKeyword) => Measures,
): Promise<string[]> {
  const found = await inTurns(selectKeywords(keywords, matches, measuresOf));
  return found.map(({ id }) => id);
}

async function pageMembers({ question, pageGroups, urls }: NamesSources): Promise<Members> {
  const groups = neededGroups('pageGroup', question, pageGroups);
  const all = await urls();
  const texts = new Map<string, string[]>();
  for (const group of groups) {
    texts.set(group.id, await inTurns(pagesOf(group, all)));
  }
  return { column: 'url', groups, texts };
}

/** All groups for a dimension, else those of the filters. Throws `invalid_request` for an id of none. */
function neededGroups<G extends GroupName>(
  dimension: 'group' | 'pageGroup',
  { dimensions, filters }: AskedNames,
  groups: readonly G[],
): readonly G[] {
  const asked = new Set(filters.flatMap((filter) => valuesOf(filter, dimension)));
  const unknown = [...asked].find((id) => !groups.some((group) => group.id === id));
  if (unknown !== undefined) {
    const known = groups.slice(0, 20).map(({ id, name }) => `${id} (${name})`);
    throw invalidRequest(
      `filters: the project has no ${dimension} '${unknown}'; it has ${known.join(', ') || 'none'}${groups.length > 20 ? ', …' : ''}.`,
    );
  }
  return dimensions.includes(dimension) ? groups : groups.filter(({ id }) => asked.has(id));
}

function valuesOf(filter: Filter, dimension: Dimension): readonly string[] {
  if ('of' in filter) return filter.of.flatMap((one) => valuesOf(one, dimension));
  return filter.dimension === dimension ? filter.values : [];
}

/** The keywords that no condition on keywords and groups alone leaves out. */
function mayCount(
  { keywords }: TrackedKeywords,
  by: QuestionNames['by'],
  tests: readonly FactTest[],
): readonly TrackedKeyword[] {
  const decide = keywordDecider({ op: 'and', of: tests });
  const at = by.findIndex(({ dimension }) => dimension === 'group');
  if (at < 0) return keywords.filter(({ id }) => decide(id, []) !== false);
  const groups = namesByText(by[at]!.grouped as NamedTexts);
  const inGroup = (name: string) => by.map((_, index) => (index === at ? name : undefined));
  return keywords.filter(({ id }) => groups.get(id)?.some((name) => decide(id, inGroup(name)) !== false));
}
