// Filters and orders of rows, as the contract of their two notations says.
import type { Row } from '../world.ts';
import { quotient } from './oracle-compare.ts';
import { holds } from './oracle-rules.ts';
import { bad, byText, type Query, type Sum } from './oracle-terms.ts';

const NUMBERS = ['clicks', 'impressions', 'ctr', 'position'];
/** Texts by which rows may be filtered and sorted, besides numbers. */
export const FIELDS: Readonly<Record<string, readonly string[]>> = {
  keywords: ['query', 'intent', 'source'],
  queries: ['query', 'branded', 'tracked'],
  pages: ['url'],
  portfolio: ['domain', 'property', 'country', 'language', 'syncStatus'],
};
const WORDS: Readonly<Record<string, readonly string[]>> = {
  intent: ['informational', 'commercial', 'transactional', 'navigational', 'unclassified'],
  source: ['suggested', 'manual', 'import'],
  syncStatus: ['pending', 'ok', 'warning', 'failed'],
};
/** Fields of a few words, which have one case. */
const NOT_TEXTS = [...Object.keys(WORDS), 'branded', 'tracked'];
const BOOLEANS: Readonly<Record<string, string>> = { eq: 'equals', neq: 'not_equals' };

/** A row with its texts; no sum if its numbers are unknown. */
export interface Selectable {
  readonly texts: Readonly<Record<string, string>>;
  readonly sum: Sum | null;
}

/** The rows that `filter` leaves, in the order of `sort`; equal ones stay in their own order. */
export function selected<Of extends Selectable>(rows: readonly Of[], query: Query, kind: string): Of[] {
  const rule = filterIn(query, FIELDS[kind]!);
  const keys = sortIn(query, FIELDS[kind]!);
  const kept = rows.filter(({ texts, sum }) => rule === undefined || holds(texts, sum, rule));
  return kept.toSorted((a, b) => {
    for (const { field, sign } of keys) {
      const difference = NUMBERS.includes(field)
        ? byNumber(a.sum && quotient(a.sum, field), b.sum && quotient(b.sum, field), sign)
        : sign * byText(a.texts[field] ?? '', b.texts[field] ?? '');
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

const NONE = [0n, 0n] as const;

/** What is unknown comes last in either direction. */
export function byNumber(
  a: readonly [bigint, bigint] | null,
  b: readonly [bigint, bigint] | null,
  sign: number,
): number {
  const [c, d] = [a ?? NONE, b ?? NONE];
  if (c[1] === 0n || d[1] === 0n) return Number(c[1] === 0n) - Number(d[1] === 0n);
  const difference = c[0] * d[1] - d[0] * c[1];
  return sign * (Number(difference > 0n) - Number(difference < 0n));
}

function sortIn(query: Query, texts: readonly string[]) {
  const fields = query.get('sort')?.split(',') ?? [];
  const keys = fields.map((field) => ({ field: field.replace(/^-/, ''), sign: field.startsWith('-') ? -1 : 1 }));
  const names = keys.map(({ field }) => field);
  if (names.some((name) => ![...texts, ...NUMBERS].includes(name)) || new Set(names).size < names.length)
    throw bad('sort');
  return keys;
}

function filterIn(query: Query, texts: readonly string[]): Row | undefined {
  const sent = query.get('filter');
  if (sent === undefined) return undefined;
  const { match, conditions } = sent.startsWith('{')
    ? (JSON.parse(sent) as { match: string; conditions: Row[] })
    : shortForm(sent);
  const checked = conditions.map(({ field, op, value, caseSensitive }): Row => {
    const name = String(field);
    if (caseSensitive === true && (NUMBERS.includes(name) || !texts.includes(name) || NOT_TEXTS.includes(name)))
      throw bad('filter');
    if (NUMBERS.includes(name)) {
      if (!['eq', 'neq', 'lt', 'lte', 'gt', 'gte'].includes(String(op)) || !Number.isFinite(Number(value)))
        throw bad('filter');
      return { field, op, value: Number(value) };
    }
    if (!texts.includes(name)) throw bad('filter');
    if (name === 'branded' || name === 'tracked') {
      if (!(String(op) in BOOLEANS) || !['true', 'false'].includes(String(value))) throw bad('filter');
      return { field, op: BOOLEANS[String(op)], value };
    }
    if (
      !['contains', 'not_contains', 'equals', 'not_equals', 'starts_with', 'ends_with', 'matches'].includes(String(op))
    )
      throw bad('filter');
    const isWord = WORDS[name] === undefined || WORDS[name].includes(String(value).toLowerCase());
    if (!isWord && /equals$/.test(String(op))) throw bad('filter');
    return { field, op, value, caseSensitive };
  });
  return { match, conditions: checked };
}

/** `field:operator:value`, several with `;` between them, which values write `\;`. */
function shortForm(sent: string): { match: string; conditions: Row[] } {
  const conditions = sent.split(/(?<!\\);/).map((part) => {
    const [, field, op, value] = /^([^:]*):([^:]*):(.*)$/s.exec(part.replaceAll('\\;', ';')) ?? [];
    if (field === undefined) throw bad('filter');
    // A tilde after the operator compares to the letter.
    return op!.endsWith('~') ? { field, op: op!.slice(0, -1), value, caseSensitive: true } : { field, op, value };
  });
  return { match: 'all', conditions };
}
