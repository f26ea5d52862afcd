import { RE2JS } from 're2js';
import { type BrandTerm, MAX_EXPRESSION, wordExpression } from '../domain/brand-terms.ts';

/** Rows per page of the API; a page with fewer rows is the last one. */
export const MAX_ROWS = 25_000;
const DEVICES = 3;

/** A tracked keyword, as the sync asks for it. */
export interface KeywordQuery {
  readonly id: string;
  readonly query: string;
}

/** Queries of one request, in lower case, and the expression that matches exactly these. */
export interface Batch {
  readonly queries: readonly string[];
  readonly expression: string;
}

/**
 * Splits queries into expressions of at most 4,096 characters, with so few queries each that their rows for a number of
 * days fit in one page. Skips queries that are too long for an expression; no search is that long.
 */
export function batchesOf(keywords: readonly KeywordQuery[], days: number): Batch[] {
  const max = Math.max(1, Math.floor((MAX_ROWS - 1) / (DEVICES * days)));
  const open = '^(';
  const close = ')$';
  const batches: Batch[] = [];
  let queries: string[] = [];
  let terms: string[] = [];
  let length = open.length + close.length;
  const end = (): void => {
    if (queries.length > 0) batches.push({ queries, expression: `${open}${terms.join('|')}${close}` });
    queries = [];
    terms = [];
    length = open.length + close.length;
  };
  for (const query of new Set(keywords.map(({ query: text }) => text.toLowerCase()))) {
    const term = RE2JS.quote(query);
    if (open.length + term.length + close.length > MAX_EXPRESSION) continue;
    if (queries.length === max || length + term.length + (terms.length > 0 ? 1 : 0) > MAX_EXPRESSION) end();
    length += term.length + (terms.length > 0 ? 1 : 0);
    queries.push(query);
    terms.push(term);
  }
  end();
  return batches;
}

/** Expressions that match queries with a brand term; several if they do not fit in one. */
export function brandExpressions(terms: readonly BrandTerm[]): string[] {
  const expressions: string[] = [];
  let expression = '';
  for (const quoted of termExpressions(terms)) {
    if (quoted === '' || quoted.length > MAX_EXPRESSION) continue;
    if (expression !== '' && expression.length + 1 + quoted.length > MAX_EXPRESSION) {
      expressions.push(expression);
      expression = '';
    }
    expression += (expression === '' ? '' : '|') + quoted;
  }
  return expression === '' ? expressions : [...expressions, expression];
}

/** The expressions of terms, each once. Terms with the same ones find the same queries. */
export function termExpressions(terms: readonly BrandTerm[]): ReadonlySet<string> {
  return new Set(
    terms.map((term) => (typeof term === 'string' ? RE2JS.quote(term.trim().toLowerCase()) : wordExpression(term))),
  );
}
