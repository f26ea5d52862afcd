import { compileRule, type Rule } from './rules.ts';

interface PageGroup {
  readonly rule: Rule;
  /** Paths of pages that belong to it whatever the rule says. */
  readonly pinnedUrls: readonly string[];
}

/** Whether a page belongs to a group: its path is pinned, or matches the rule. */
export function pageGroupTest({ rule, pinnedUrls }: PageGroup): (url: string) => boolean {
  const pinned = new Set(pinnedUrls);
  // Conditions of page groups have no field; they match the path.
  const conditions = rule.conditions.map((condition) => ({ ...condition, field: 'url' }));
  const { matchesTexts } = compileRule({ ...rule, conditions });
  return (url) => {
    const path = pathOf(url);
    return pinned.has(path) || matchesTexts({ url: path });
  };
}

function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? url;
}
