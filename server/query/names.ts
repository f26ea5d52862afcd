import type { PageGroup, TrackedKeyword, TrackedKeywords, TrackedKeywordsCache } from '../catalog/keywords.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { Steps } from '../domain/expressions.ts';
import { type GroupMatch, pagesOf, selectKeywords, withDescendants } from '../domain/groups.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import { decider, isTextTest, leavesOf, mapLeaves, type TextTest } from '../domain/predicate.ts';
import { markMatches, RowColumns } from '../domain/select-rows.ts';
import { canTestInSql, type FactTest, type GroupedBy, type NamedTexts, type SumsTest } from '../facts/sums.ts';
import { COLUMNS, type ColumnName, DIMENSIONS, type Dimension, hasDimension, isTime } from '../model/tables.ts';
import { inTurns } from '../runtime/turns.ts';
import { dimensionsOf, type QuestionTest, splitFilters } from './predicate.ts';
import type { Question } from './question.ts';

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
  /** What the sums and names of a row of the answer must be like; null if anything. */
  readonly having: SumsTest | null;
  /** Of each dimension. */
  readonly valuesOf: readonly DimensionValues[];
  /** Whether rows of facts may count in several rows of the answer. */
  readonly overlap: boolean;
  /** The keywords that may count; none where keywords are not asked for. */
  readonly keywords: () => readonly TrackedKeyword[];
}

/** The parts of a question that have names. */
type AskedNames = Pick<Question, 'dimensions' | 'filters' | 'table'>;

interface NamesSources {
  readonly question: AskedNames;
  readonly tracked: TrackedKeywords;
  readonly pageGroups: readonly PageGroup[];
  readonly cache: TrackedKeywordsCache;
  /** The totals of a keyword over the range, which rules of groups may test. */
  readonly totals: () => Promise<(keyword: TrackedKeyword) => Measures>;
  /** All pages that facts of the ranges have. */
  readonly urls: () => Promise<readonly string[]>;
  /** All texts that facts of the ranges have in a column. */
  readonly texts: (column: ColumnName) => Promise<readonly string[]>;
}

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
  const { dimensions, filters, table } = question;
  const used = [...dimensions, ...filters.flatMap(dimensionsOf)];
  const members = {
    group: used.includes('group') ? await keywordMembers(sources) : undefined,
    pageGroup: used.includes('pageGroup') ? await pageMembers(sources) : undefined,
  };
  const isOfKeywords = hasDimension(table, 'keyword');
  const by = dimensions.map((dimension) => ({ dimension, grouped: groupedBy(dimension, tracked, members) }));
  const found = await readFound(sources);
  const test = (leaf: TextTest<Dimension>): FactTest => factTest(leaf, { by, found, members });
  const { ofFacts, ofRows } = splitFilters(filters);
  const tests = ofFacts.map((filter) => mapLeaves(filter, test));
  const having = ofRows.map((filter) =>
    mapLeaves(filter, (leaf): SumsTest => (isTextTest(leaf) ? (namedKeywords(leaf, by, found) ?? test(leaf)) : leaf)),
  );
  // Only the keywords that are tracked now are served; names join only those.
  const isJoined = by.some(
    ({ grouped }) => grouped !== null && typeof grouped === 'object' && grouped.column === 'keyword_id',
  );
  if (isOfKeywords && !isJoined) {
    tests.push({ op: 'equals', field: 'keyword_id', values: tracked.keywords.map(({ id }) => id), fold: false });
  }
  return {
    by,
    test: { op: 'and', of: tests },
    having: having.length === 0 ? null : { op: 'and', of: having },
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
  if (dimension !== 'group' && dimension !== 'pageGroup') return DIMENSIONS[dimension].column;
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

type Named = Readonly<Record<'group' | 'pageGroup', Members | undefined>>;

/** What conditions find where SQL cannot tell: keywords, or texts of a column. */
interface Found {
  readonly keywords: ReadonlyMap<TextTest<Dimension>, readonly TrackedKeyword[]>;
  readonly texts: ReadonlyMap<TextTest<Dimension>, readonly string[]>;
}

function factTest(
  leaf: TextTest<Dimension>,
  { by, found, members }: { by: QuestionNames['by']; found: Found; members: Named },
): FactTest {
  const { op, field: dimension, values, fold } = leaf;
  const one = (field: ColumnName, texts: readonly string[]) =>
    ({ op: 'equals', field, values: texts, fold: false }) as const;
  if (dimension === 'keyword') {
    return one(
      'keyword_id',
      found.keywords.get(leaf)!.map(({ id }) => id),
    );
  }
  if (dimension !== 'group' && dimension !== 'pageGroup') {
    const field = DIMENSIONS[dimension].column;
    const texts = found.texts.get(leaf);
    if (texts !== undefined) return one(field, texts);
    // Words are stored in one case, in which they were read.
    return { op, field, values, fold: fold && hasCases(field) };
  }
  const { column, groups, texts } = members[dimension]!;
  const at = by.findIndex((each) => each.dimension === dimension);
  // With the dimension, a filter keeps rows of the answer; without it, what is in one of the groups.
  if (at >= 0) {
    const names = groups.flatMap(({ id }, index) => (values.includes(id) ? [sortableIndex(index)] : []));
    return { op: 'named', by: at, values: names };
  }
  return one(column, [...new Set(values.flatMap((id) => texts.get(id) ?? []))]);
}

/** A condition on the keyword of a row of the answer; undefined for other dimensions. */
function namedKeywords(leaf: TextTest<Dimension>, by: QuestionNames['by'], { keywords }: Found): SumsTest | undefined {
  const names = keywords.get(leaf)?.map(({ index }) => sortableIndex(index));
  return names && { op: 'named', by: by.findIndex(({ dimension }) => dimension === 'keyword'), values: names };
}

/** Whether the texts of a column have more than one case. */
function hasCases(column: ColumnName): boolean {
  return ['words', 'url', 'appearance'].includes(COLUMNS[column].type);
}

async function readFound({ question, tracked, texts }: NamesSources): Promise<Found> {
  const found = { keywords: new Map<TextTest<Dimension>, TrackedKeyword[]>(), texts: new Map() };
  for (const leaf of question.filters.flatMap((filter) => leavesOf(filter)).filter(isTextTest)) {
    const { column, of } = DIMENSIONS[leaf.field];
    if (leaf.field === 'keyword') {
      found.keywords.set(leaf, await inTurns(thoseThat(leaf, tracked.keywords, ({ query }) => query)));
    } else if (of === undefined && hasCases(column) && !canTestInSql(leaf)) {
      found.texts.set(leaf, await inTurns(thoseThat(leaf, await texts(column), (text) => text)));
    }
  }
  return found;
}

function* thoseThat<Row>(
  { op, values, fold }: TextTest,
  rows: readonly Row[],
  textOf: (row: Row) => string,
): Steps<Row[]> {
  const columns = new RowColumns(rows, { measuresOf: () => NOTHING, textsOf: (row) => ({ query: textOf(row) }) });
  const marks = yield* markMatches(columns, { op, field: 'query', values, fold });
  return rows.filter((_, at) => marks[at] === 1);
}

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

function valuesOf(filter: QuestionTest, dimension: Dimension): readonly string[] {
  return leavesOf(filter)
    .filter(isTextTest)
    .flatMap(({ field, values }) => (field === dimension ? values : []));
}

/**
 * Whether a test holds for all (true) or none (false) of the rows of a keyword with some names; undefined if it depends on
 * more, such as other names.
 */
export function keywordDecider(
  test: FactTest,
): (id: string, names: readonly (string | undefined)[]) => boolean | undefined {
  return decider(test, (leaf) => {
    const values = new Set(leaf.values);
    if (leaf.op === 'named') return (_id, { [leaf.by]: name }) => (name === undefined ? undefined : values.has(name));
    return leaf.op === 'equals' && leaf.field === 'keyword_id' ? (id) => values.has(id) : () => undefined;
  });
}

/** The names of each text in a list. */
export function namesByText({ texts, names }: NamedTexts): ReadonlyMap<string, readonly string[]> {
  const byText = new Map<string, string[]>();
  for (const [at, text] of texts.entries()) {
    const known = byText.get(text);
    if (known === undefined) byText.set(text, [names[at]!]);
    else known.push(names[at]!);
  }
  return byText;
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
