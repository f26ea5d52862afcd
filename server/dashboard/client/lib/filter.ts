/** The language of filters: `field:operator:value`, joined by `;`, in which `\;` is a semicolon. */

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
  ['matches', 'matches'],
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

export function writeFilter(conditions: readonly Condition[]): string {
  return conditions.map(({ field, op, value }) => `${field}:${op}:${value.replaceAll(';', '\\;')}`).join(';');
}

/** Two filters of which both must hold; a filter in JSON stays alone. */
export function joinFilters(...filters: readonly string[]): string {
  const given = filters.filter((filter) => filter !== '');
  return given.find((filter) => filter.trimStart().startsWith('{')) ?? given.join(';');
}

export function describeCondition({ field, op, value }: Condition): string {
  const name = [...TEXT_OPERATORS, ...NUMBER_OPERATORS].find(([known]) => known === op)?.[1] ?? op;
  return `${field} ${name} ${value}`;
}
