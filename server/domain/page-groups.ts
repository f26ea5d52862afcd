import type { Steps } from './expressions.ts';
import { NOTHING } from './metrics.ts';
import { RowColumns } from './row-columns.ts';
import type { Rule } from './rules.ts';
import { markMatches } from './select-rows.ts';

interface PageGroup {
  readonly rule: Rule;
  /** Paths of pages that belong to it whatever the rule says. */
  readonly pinnedUrls: readonly string[];
}

/** The pages that belong to a group, in their order: their path is pinned, or matches the rule. Yields often. */
export function* pagesOf({ rule, pinnedUrls }: PageGroup, urls: readonly string[]): Steps<string[]> {
  const pinned = new Set(pinnedUrls);
  const pages: { readonly url: string; readonly path: string }[] = [];
  for (const url of urls) {
    pages.push({ url, path: pathOf(url) });
    yield;
  }
  // Conditions of page groups have no field; they match the path.
  const conditions = rule.conditions.map((condition) => ({ ...condition, field: 'url' }));
  const columns = new RowColumns(pages, { measuresOf: () => NOTHING, textsOf: ({ path }) => ({ url: path }) });
  const matches = yield* markMatches(columns, { ...rule, conditions });
  const found: string[] = [];
  for (const [at, { url, path }] of pages.entries()) {
    if (matches[at] === 1 || pinned.has(path)) found.push(url);
    yield;
  }
  return found;
}

function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? url;
}
