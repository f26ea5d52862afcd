// Tracked queries that are split over pages, by docs/decisions/findings.md.
import { total } from './oracle-statistics.ts';
import { byText, type Days, number } from './oracle-terms.ts';
import type { Found, Site, Test } from './oracle-tests.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

/** Null without stored days of the pages of keywords. */
export function splits(world: OracleWorld, project: Project, range: Days): Found | null {
  const days = { from: Math.max(range.from, world.historyFrom(project)), to: range.to };
  if (days.from > days.to || world.rows(project, 'keyword_page_daily', days).length === 0) return null;
  const queries = world.tracked(project).map(({ id, query }) => ({
    query: String(query),
    impressions: total(of(world, project, 'keyword_daily', days, id).map((row) => Number(row['impressions']))),
    shown: of(world, project, 'keyword_page_daily', days, id).map((row) => ({
      day: number(String(row['date'])),
      page: String(row['url']).split('#')[0]!,
      impressions: Number(row['impressions']),
    })),
  }));
  const withPages = queries.filter(({ shown }) => shown.length > 0);
  const tests = withPages.flatMap(({ query, impressions, shown }): Test[] => {
    const sum = (rows: typeof shown, page: string): number =>
      total(rows.filter((row) => row.page === page).map((row) => row.impressions));
    const order = (rows: typeof shown) =>
      [...new Set(rows.map(({ page }) => page))].sort((a, b) => sum(rows, b) - sum(rows, a) || byText(a, b));
    const large = order(shown).filter((page) => impressions > 0 && sum(shown, page) >= 0.15 * impressions);
    const dates = [...new Set(shown.map(({ day }) => day))].sort((a, b) => a - b);
    if (large.length < 2 || dates.length < 7) return [];
    let main: string | null = null;
    const changes: number[] = [];
    for (const day of dates) {
      const rows = shown.filter((row) => row.day === day);
      const first = order(rows)[0]!;
      const equal = order(rows).filter((page) => sum(rows, page) === sum(rows, first));
      const before: string | null = main;
      main = before !== null && equal.includes(before) ? before : order(shown).find((page) => equal.includes(page))!;
      if (before !== null && before !== main) changes.push(day);
    }
    if (changes.length < 0.2 * (dates.length - 1)) return [];
    const row = {
      ...{ name: query, days: [], isBrand: false },
      lists: { pages: large, pageImpressions: large.map((page) => sum(shown, page)) },
    } satisfies Site & { lists: object };
    return [
      {
        ...{ type: 'split', row, gain: null, p: null, since: range.to - changes[0]! },
        evidence: { impressions, shownDays: dates.length, mainPageChanges: changes.length },
      },
    ];
  });
  return { tested: withPages.length, tests };
}

const of = (world: OracleWorld, project: Project, table: string, days: Days, id: unknown) =>
  world.rows(project, table, days).filter((row) => row['keyword_id'] === id);
