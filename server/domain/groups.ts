import { shortIdNumber } from './ids.ts';
import type { Measures } from './metrics.ts';
import { type CompiledRule, compileRule, type Rule } from './rules.ts';

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

/** Which keywords (not archived) a manual group has, and which manual groups a keyword is in; ids in order. */
export interface Membership {
  readonly keywordsOf: ReadonlyMap<string, readonly string[]>;
  readonly groupsOf: ReadonlyMap<string, readonly string[]>;
}

export interface GroupedKeyword {
  readonly id: string;
  readonly query: string;
  readonly intent: string;
  readonly source: string;
}

/** A keyword and its place among all of its project. */
export type PlacedKeyword = GroupedKeyword & { readonly position: number };

/** A group and, for a folder, every group anywhere below it. */
export function withDescendants(group: Group, groups: readonly Group[]): Group[] {
  const found = new Set([group]);
  // A set can be extended while it is walked: each folder adds its children behind itself, each once.
  for (const { id, kind } of found) {
    if (kind === 'folder') for (const child of groups) if (child.parentId === id) found.add(child);
  }
  return [...found];
}

/** Which keywords a group has: those of the bits, and what a rule's conditions on numbers make of it. */
export interface GroupMatch {
  /** A bit for each keyword, by position: a member, or what a rule's conditions on texts say. */
  readonly bits: Uint8Array;
  readonly rule: CompiledRule | null;
}

interface GroupedKeywords {
  /** All of a project, in the order of their positions. */
  readonly keywords: readonly PlacedKeyword[];
  /** Positions by `shortIdNumber` of the id. */
  readonly positions: ReadonlyMap<number, number>;
  readonly membership: Membership;
}

/** What a group has of a project's keywords, as far as that depends on no range. Yields after each keyword. */
export function* matchGroup(
  group: Group,
  { keywords, positions, membership }: GroupedKeywords,
): Generator<void, GroupMatch> {
  const bits = new Uint8Array(Math.ceil(keywords.length / 8));
  for (const id of membership.keywordsOf.get(group.id) ?? []) {
    const position = positions.get(shortIdNumber(id));
    if (position !== undefined) setBit(bits, position);
    yield;
  }
  const rule = group.rule === null ? null : compileRule(group.rule);
  if (rule !== null) {
    for (const keyword of keywords) {
      if (rule.matchesTexts(keyword)) setBit(bits, keyword.position);
      yield;
    }
  }
  return { bits, rule };
}

/**
 * The keywords, in the order given, that groups restrict to: the members of manual groups and the matches of rule
 * groups, each once. `measuresOf` gives a keyword's totals over the range. Yields after each keyword.
 */
export function* selectKeywords<K extends PlacedKeyword>(
  keywords: readonly K[],
  matches: readonly GroupMatch[],
  measuresOf: (keyword: K) => Measures,
): Generator<void, K[]> {
  // Most groups depend on no numbers: they are put together before keywords are looked at one by one.
  const settled = new Uint8Array(Math.ceil(keywords.length / 8));
  const open: { bits: Uint8Array; rule: CompiledRule }[] = [];
  for (const { bits, rule } of matches) {
    if (rule?.readsNumbers === true) open.push({ bits, rule });
    else for (const [at, byte] of bits.entries()) settled[at]! |= byte;
    yield;
  }
  const selected: K[] = [];
  for (const keyword of keywords) {
    const { position } = keyword;
    if (hasBit(settled, position)) selected.push(keyword);
    else if (open.length > 0) {
      const measures = measuresOf(keyword);
      if (open.some(({ bits, rule }) => rule.matches(hasBit(bits, position), measures))) selected.push(keyword);
    }
    yield;
  }
  return selected;
}

function setBit(bits: Uint8Array, position: number): void {
  bits[position >> 3]! |= 1 << (position & 7);
}

function hasBit(bits: Uint8Array, position: number): boolean {
  return (bits[position >> 3]! & (1 << (position & 7))) !== 0;
}
