import type { Row } from '../world.ts';
import { quotient } from './oracle-compare.ts';
import type { Sum } from './oracle-terms.ts';

interface Grouping {
  readonly groups: readonly Row[];
  readonly members: readonly Row[];
  readonly total: Sum;
}

/** Whether a group, or anything below a folder, has a keyword. */
export function isIn(keyword: Row, id: unknown, grouping: Grouping): boolean {
  const { groups, members, total } = grouping;
  const group = groups.find((row) => row['id'] === id)!;
  if (group['kind'] === 'folder') {
    return groups.some((child) => child['parent_id'] === id && isIn(keyword, child['id'], grouping));
  }
  if (group['kind'] === 'manual') {
    return members.some((member) => member['group_id'] === id && member['keyword_id'] === keyword['id']);
  }
  return holds(keyword, total, group['rule'] as Row);
}

/** Whether a rule, or a filter, holds for texts and a sum; no condition holds for a number that is unknown. */
export function holds(texts: Row, sum: Sum | null, { match, conditions }: Row): boolean {
  const isMet = (condition: Row): boolean => meets(texts, sum, condition);
  return match === 'all' ? (conditions as Row[]).every(isMet) : (conditions as Row[]).some(isMet);
}

const TEXT: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  contains: (a, b) => a.includes(b),
  not_contains: (a, b) => !a.includes(b),
  equals: (a, b) => a === b,
  not_equals: (a, b) => a !== b,
  starts_with: (a, b) => a.startsWith(b),
  ends_with: (a, b) => a.endsWith(b),
  matches: (a, b) => new RegExp(b, 'u').test(a),
};

/** Comparisons by the sign of a difference. */
const NUMBER: Readonly<Record<string, (difference: bigint) => boolean>> = {
  eq: (difference) => difference === 0n,
  neq: (difference) => difference !== 0n,
  lt: (difference) => difference < 0n,
  lte: (difference) => difference <= 0n,
  gt: (difference) => difference > 0n,
  gte: (difference) => difference >= 0n,
};

function meets(texts: Row, sum: Sum | null, { field, op, value, caseSensitive }: Row): boolean {
  const compareText = TEXT[String(op)];
  if (compareText !== undefined) {
    const text = String((texts[String(field)] ?? '') as string);
    if (caseSensitive === true) return compareText(text, String(value));
    if (op === 'matches') return new RegExp(String(value), 'iu').test(text);
    return compareText(text.toLowerCase(), String(value).toLowerCase());
  }
  if (sum === null) return false;
  const [numerator, denominator] = quotient(sum, String(field));
  if (denominator === 0n) return false;
  // Values of rules have two decimals at most.
  return NUMBER[String(op)]!(numerator * 100n - BigInt(Math.round(Number(value) * 100)) * denominator);
}
