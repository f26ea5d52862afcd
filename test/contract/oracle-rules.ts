import type { Row } from '../world.ts';
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
  const { match, conditions } = group['rule'] as { match: string; conditions: Row[] };
  const holds = (condition: Row): boolean => meets(keyword, total, condition);
  return match === 'all' ? conditions.every(holds) : conditions.some(holds);
}

const TEXT: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  contains: (a, b) => a.includes(b),
  not_contains: (a, b) => !a.includes(b),
  equals: (a, b) => a === b,
  not_equals: (a, b) => a !== b,
  starts_with: (a, b) => a.startsWith(b),
  ends_with: (a, b) => a.endsWith(b),
  matches: (a, b) => new RegExp(b, 'iu').test(a),
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

function meets(keyword: Row, { clicks, impressions, top, bottom }: Sum, { field, op, value }: Row): boolean {
  const compareText = TEXT[String(op)];
  if (compareText !== undefined) {
    return compareText(String(keyword[String(field)]).toLowerCase(), String(value).toLowerCase());
  }
  const numbers: Readonly<Record<string, readonly [bigint, bigint]>> = {
    clicks: [clicks, 1n],
    impressions: [impressions, 1n],
    ctr: [clicks, impressions],
    position: [top + impressions * bottom, impressions * bottom],
  };
  const [numerator, denominator] = numbers[String(field)]!;
  if (denominator === 0n) return false;
  // Values of rules have two decimals at most.
  return NUMBER[String(op)]!(numerator * 100n - BigInt(Math.round(Number(value) * 100)) * denominator);
}
