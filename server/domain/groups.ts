import type { Steps } from './expressions.ts';
import { shortIdNumber } from './ids.ts';
import { type Measures, NOTHING } from './metrics.ts';
import { RowColumns } from './row-columns.ts';
import { type CompiledRule, compileRule, type Rule } from './rules.ts';
import { markMatches } from './select-rows.ts';

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

/** The keywords that a group contains. A rule with conditions on numbers must be combined with `bits`. */
export interface GroupMatch {
  /** A bit per keyword, by its index: set for members, or for keywords that a rule's conditions on texts match. */
  readonly bits: Uint8Array;
  readonly rule: CompiledRule | null;
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
  const rule = group.rule === null ? null : compileRule(group.rule);
  if (rule !== null) {
    const columns = new RowColumns(keywords, { measuresOf: () => NOTHING, textsOf: (keyword) => keyword });
    const matches = yield* markMatches(columns, rule.ofTexts);
    for (const [at, { index }] of keywords.entries()) if (matches[at] === 1) setBit(bits, index);
  }
  return { bits, rule };
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
  const numericRules: { bits: Uint8Array; rule: CompiledRule }[] = [];
  for (const { bits, rule } of matches) {
    if (rule?.readsNumbers === true) numericRules.push({ bits, rule });
    else for (const [at, byte] of bits.entries()) matched[at]! |= byte;
    yield;
  }
  const selected: K[] = [];
  for (const keyword of keywords) {
    const { index } = keyword;
    if (hasBit(matched, index)) selected.push(keyword);
    else if (numericRules.length > 0) {
      const measures = measuresOf(keyword);
      if (numericRules.some(({ bits, rule }) => rule.matches(hasBit(bits, index), measures))) selected.push(keyword);
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
