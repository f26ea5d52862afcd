import type { Measures } from './metrics.ts';
import { compileRule, type Rule } from './rules.ts';

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

/** A group and, for a folder, every group anywhere below it. */
export function withDescendants(group: Group, groups: readonly Group[]): Group[] {
  const found = new Set([group]);
  // A set can be extended while it is walked: each folder adds its children behind itself, each once.
  for (const { id, kind } of found) {
    if (kind === 'folder') for (const child of groups) if (child.parentId === id) found.add(child);
  }
  return [...found];
}

/**
 * The keywords, in the order given, that a group restricts to: the members of a manual group, the matches of a rule
 * group, for a folder those of all groups below it, each once. `measuresOf` gives a keyword's totals over the range.
 */
export function selectKeywords<K extends GroupedKeyword>(
  keywords: readonly K[],
  selected: readonly Group[],
  membership: Membership,
  measuresOf: (keyword: K) => Measures,
): K[] {
  const members = new Set(selected.flatMap((group) => membership.keywordsOf.get(group.id) ?? []));
  const rules = selected.flatMap((group) => (group.rule === null ? [] : [compileRule(group.rule)]));
  return keywords.filter((keyword) => {
    if (members.has(keyword.id)) return true;
    if (rules.length === 0) return false;
    const subject = { ...measuresOf(keyword), query: keyword.query, intent: keyword.intent, source: keyword.source };
    return rules.some((matches) => matches(subject));
  });
}
