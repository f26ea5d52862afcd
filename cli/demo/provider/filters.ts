import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { badRequest } from './errors.ts';
import type { Dimension, Filter } from './request.ts';

/** The test of a filter on a value. */
interface Matcher {
  readonly matches: (value: string) => boolean;
  /** If only certain values can pass: all of them, in lower case. */
  readonly only?: readonly string[];
  /** The filter passes values that do not match. */
  readonly excludes: boolean;
}

/** The compiled filters of a request. */
export interface Filters {
  /** Whether a value passes all filters of its dimension. */
  readonly pass: (dimension: Dimension, value: string) => boolean;
  /** Whether one of several simultaneous values passes; for excluding filters, all of them must. */
  readonly passAny: (dimension: Dimension, values: readonly string[]) => boolean;
  /** The queries that can pass, if filters name them. */
  readonly queries: readonly string[] | undefined;
}

/** Requests repeat expressions for many windows, so compiled expressions and their results are cached. */
const compiled = new LRUCache<string, Matcher>({ max: 500 });

/** Throws `ApiError` for an invalid expression. */
export function compileFilters(filters: readonly Filter[]): Filters {
  const byDimension = Map.groupBy(filters, ({ dimension }) => dimension);
  const matchers = new Map([...byDimension].map(([dimension, all]) => [dimension, all.map(matcherOf)]));
  const passAny = (dimension: Dimension, values: readonly string[]): boolean =>
    matchers.get(dimension)?.every(({ matches, excludes }) => values.some(matches) !== excludes) ?? true;
  return {
    pass: (dimension, value) => !matchers.has(dimension) || passAny(dimension, [value]),
    passAny,
    queries: matchers.get('query')?.find(({ only }) => only !== undefined)?.only,
  };
}

function matcherOf({ operator, expression }: Filter): Matcher {
  const key = `${operator} ${expression}`;
  const known = compiled.get(key) ?? compile(operator, expression);
  compiled.set(key, known);
  return known;
}

function compile(operator: Filter['operator'], expression: string): Matcher {
  const wanted = expression.toLowerCase();
  const equals = (value: string): boolean => value.toLowerCase() === wanted;
  const contains = (value: string): boolean => value.toLowerCase().includes(wanted);
  switch (operator) {
    case 'equals':
      return { matches: equals, only: [wanted], excludes: false };
    case 'notEquals':
      return { matches: equals, excludes: true };
    case 'contains':
      return { matches: contains, excludes: false };
    case 'notContains':
      return { matches: contains, excludes: true };
    case 'includingRegex': {
      const only = literalsOf(expression);
      if (only === undefined) return { matches: search(expression), excludes: false };
      const set = new Set(only);
      return { matches: (value) => set.has(value.toLowerCase()), only, excludes: false };
    }
    case 'excludingRegex':
      return { matches: search(expression), excludes: true };
  }
}

/** Searches for an expression anywhere in a value, case-insensitively. */
function search(expression: string): (value: string) => boolean {
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(expression, RE2JS.CASE_INSENSITIVE);
  } catch {
    throw badRequest(`Invalid regular expression: ${expression.slice(0, 100)}`);
  }
  const remembered = new Map<string, boolean>();
  return (value) => {
    const found = remembered.get(value) ?? pattern.matcher(value).find();
    remembered.set(value, found);
    return found;
  };
}

const ALTERNATIVES = /^\^\((?:\?:)?((?:[^\\()[\]{}.*+?^$]|\\[^a-zA-Z0-9])*)\)\$$/s;

/**
 * The texts of an expression of the form `^(one|other)$`, in lower case; undefined for others. Requests use it for
 * thousands of queries, which need no search.
 */
function literalsOf(expression: string): string[] | undefined {
  const inside = ALTERNATIVES.exec(expression)?.[1];
  if (inside === undefined) return undefined;
  const texts = [''];
  for (const [part] of inside.matchAll(/\\.|[^\\]/gsu)) {
    if (part === '|') texts.push('');
    else texts.push(texts.pop()! + (part.length > 1 && part.startsWith('\\') ? part.slice(1) : part));
  }
  return texts.map((text) => text.toLowerCase());
}
