import { formatFinePercent } from './format.ts';

/** The language of filters: `field:operator:value`, joined by `;`, in which `\;` is a semicolon; `~` ends an operator that minds case. */

export interface Condition {
  readonly field: string;
  readonly op: string;
  readonly value: string;
}

export const TEXT_OPERATORS = [
  ['contains', 'contains'],
  ['not_contains', 'does not contain'],
  ['equals', 'is'],
  ['not_equals', 'is not'],
  ['starts_with', 'begins with'],
  ['ends_with', 'ends with'],
  ['matches', 'matches regex'],
] as const;
export const NUMBER_OPERATORS = [
  ['lte', '≤'],
  ['gte', '≥'],
  ['lt', '<'],
  ['gt', '>'],
  ['eq', '='],
  ['neq', '≠'],
] as const;

export function parseFilter(text: string): Condition[] {
  if (text.trim() === '' || text.trimStart().startsWith('{')) return [];
  return text.split(/(?<!\\);/).flatMap((part) => {
    const [, field, op, value] = /^([^:]*):([^:]*):(.*)$/s.exec(part.replaceAll('\\;', ';')) ?? [];
    return field === undefined || op === undefined || value === undefined ? [] : [{ field, op, value }];
  });
}

/** The text that each row has, by its name in the API. */
export const TEXT_FIELDS = { query: 'Query', url: 'Page', domain: 'Domain' } as const;
export type TextField = keyof typeof TEXT_FIELDS;

/** A filter without the conditions that `isWanted` is false of; a filter in JSON stays whole. */
export function partOfFilter(filter: string, isWanted: (condition: Condition) => boolean): string {
  const conditions = parseFilter(filter);
  const wanted = conditions.filter(isWanted);
  return wanted.length === conditions.length ? filter : writeFilter(wanted);
}

/** The part of a filter that is about rows with a text: conditions on other texts belong to other screens. */
export function filterOfRows(filter: string, text: TextField): string {
  return partOfFilter(filter, ({ field }) => field === text || !(field in TEXT_FIELDS));
}

export function writeFilter(conditions: readonly Condition[]): string {
  return conditions.map(({ field, op, value }) => `${field}:${op}:${value.replaceAll(';', '\\;')}`).join(';');
}

/** Two filters of which both must hold; a filter in JSON stays alone. */
export function joinFilters(...filters: readonly string[]): string {
  const given = filters.filter((filter) => filter !== '');
  return given.find((filter) => filter.trimStart().startsWith('{')) ?? given.join(';');
}

export function describeCondition({ field, op, value }: Condition): string {
  const verb = op.replace(/~$/, '');
  const known = [...TEXT_OPERATORS, ...NUMBER_OPERATORS].find(([one]) => one === verb)?.[1] ?? verb;
  const name = verb === op ? known : `${known} exactly`;
  if (field === 'ctr') return `CTR ${name} ${formatFinePercent(Number(value))}`;
  return `${TEXT_FIELDS[field as TextField]?.toLowerCase() ?? field} ${name} ${value}`;
}
