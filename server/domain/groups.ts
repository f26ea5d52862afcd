import type { Steps } from './expressions.ts';
import { shortIdNumber } from './ids.ts';
import { type Measures, NOTHING } from './metrics.ts';
import { isSumTest, leavesOf, metricOf, type RowTest, readsSums, sumTest } from './predicate.ts';
import { type Rule, testOfRule } from './rules.ts';
import { markMatches, RowColumns } from './select-rows.ts';

/** A keyword group or a folder of groups. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly kind: 'folder' | 'manual' | 'rule';
  readonly parentId: string | null;
  readonly position: number;
  readonly pinned: boolean;
  readonly rule: Rule | null;
}

/** The keywords (not archived) of each manual group, and the manual groups of each keyword; ids in order. */
export interface Membership {
  readonly keywordsOf: ReadonlyMap<string, readonly string[]>;
  readonly groupsOf: ReadonlyMap<string, readonly string[]>;
}

interface GroupedKeyword {
  readonly id: string;
  readonly query: string;
  readonly intent: string;
  readonly source: string;
}

/** A keyword and its index among all keywords of its project. */
export type IndexedKeyword = GroupedKeyword & { readonly index: number };

/** A group and, for a folder, every group below it at any depth. */
export function withDescendants(group: Group, groups: readonly Group[]): Group[] {
  const found = new Set([group]);
  // A set can grow while it is iterated: each folder appends its children, each once.
  for (const { id, kind } of found) {
    if (kind === 'folder') for (const child of groups) if (child.parentId === id) found.add(child);
  }
  return [...found];
}

/** The keywords that a group contains. A rule with conditions on sums must be combined with `bits`. */
export interface GroupMatch {
  /** A bit per keyword, by its index: set for members, or for keywords that a rule's conditions on texts match. */
  readonly bits: Uint8Array;
  /** Whether a keyword with these sums matches, if its texts do or not; null where sums do not matter. */
  readonly withSums: ((ofTexts: boolean, sums: Measures) => boolean) | null;
}

interface GroupedKeywords {
  /** All keywords of the project, in the order of their indexes. */
  readonly keywords: readonly IndexedKeyword[];
  /** The index of each keyword, by `shortIdNumber` of its id. */
  readonly indexes: ReadonlyMap<number, number>;
  readonly membership: Membership;
}

/** Matches a group against a project's keywords, without conditions that need a range. Yields often. */
export function* matchGroup(
  group: Pick<Group, 'id' | 'rule'>,
  { keywords, indexes, membership }: GroupedKeywords,
): Steps<GroupMatch> {
  const bits = new Uint8Array(Math.ceil(keywords.length / 8));
  for (const id of membership.keywordsOf.get(group.id) ?? []) {
    const index = indexes.get(shortIdNumber(id));
    if (index !== undefined) setBit(bits, index);
    yield;
  }
  if (group.rule === null) return { bits, withSums: null };
  const { ofTexts, withSums } = withoutSums(testOfRule(group.rule));
  const columns = new RowColumns(keywords, { measuresOf: () => NOTHING, textsOf: (keyword) => keyword });
  const matches = yield* markMatches(columns, ofTexts);
  for (const [at, { index }] of keywords.entries()) if (matches[at] === 1) setBit(bits, index);
  return { bits, withSums };
}

/** Splits a rule: its conditions on texts depend on no range, so that their result can be kept. */
function withoutSums(rule: RowTest): Pick<GroupMatch, 'withSums'> & { readonly ofTexts: RowTest } {
  if (!('of' in rule) || rule.op === 'not' || !readsSums(rule)) return { ofTexts: rule, withSums: null };
  const sums = rule.of.flatMap(leavesOf).filter(isSumTest);
  const tests = sums.map((leaf) => {
    const holds = sumTest(leaf);
    return (of: Measures) => holds(metricOf(of, leaf.field));
  });
  return {
    ofTexts: { op: rule.op, of: rule.of.filter((one) => !readsSums(one)) },
    withSums:
      rule.op === 'and'
        ? (ofTexts, of) => ofTexts && tests.every((test) => test(of))
        : (ofTexts, of) => ofTexts || tests.some((test) => test(of)),
  };
}

/**
 * The keywords, in the order given, that groups restrict to: the members of manual groups and the matches of rule
 * groups, each once. `measuresOf` gives a keyword's totals over the range. Yields after each keyword.
 */
export function* selectKeywords<K extends IndexedKeyword>(
  keywords: readonly K[],
  matches: readonly GroupMatch[],
  measuresOf: (keyword: K) => Measures,
): Generator<void, K[]> {
  // Most groups need no numbers: their bits are combined before the loop over keywords.
  const matched = new Uint8Array(Math.ceil(keywords.length / 8));
  const ofSums: { readonly bits: Uint8Array; readonly test: NonNullable<GroupMatch['withSums']> }[] = [];
  for (const { bits, withSums } of matches) {
    if (withSums !== null) ofSums.push({ bits, test: withSums });
    else for (const [at, byte] of bits.entries()) matched[at]! |= byte;
    yield;
  }
  const selected: K[] = [];
  for (const keyword of keywords) {
    const { index } = keyword;
    if (hasBit(matched, index)) selected.push(keyword);
    else if (ofSums.length > 0) {
      const sums = measuresOf(keyword);
      if (ofSums.some(({ bits, test }) => test(hasBit(bits, index), sums))) selected.push(keyword);
    }
    yield;
  }
  return selected;
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3]! |= 1 << (index & 7);
}

function hasBit(bits: Uint8Array, index: number): boolean {
  return (bits[index >> 3]! & (1 << (index & 7))) !== 0;
}

interface PageGroup {
  readonly rule: Rule;
  /** Paths of pages that belong to it whatever the rule says. */
  readonly pinnedUrls: readonly string[];
}

/** The pages that belong to a group, in their order: their path is pinned, or matches the rule. Yields often. */
export function* pagesOf({ rule, pinnedUrls }: PageGroup, urls: readonly string[]): Steps<string[]> {
  const pinned = new Set(pinnedUrls);
  const pages: { readonly url: string; readonly path: string }[] = [];
  for (const url of urls) {
    pages.push({ url, path: pathOf(url) });
    yield;
  }
  const columns = new RowColumns(pages, { measuresOf: () => NOTHING, textsOf: ({ path }) => ({ url: path }) });
  const matches = yield* markMatches(columns, testOfRule(rule, 'url'));
  const found: string[] = [];
  for (const [at, { url, path }] of pages.entries()) {
    if (matches[at] === 1 || pinned.has(path)) found.push(url);
    yield;
  }
  return found;
}

function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? url;
}
