import type { AnsweredFinding, FindingsResult } from '../reports/findings.ts';
import type { FindingEvidence } from '../reports/listed-finding.ts';
import { batchOf, type Cell, type Column, type RowsAnswer } from './rows.ts';

const EVIDENCE: readonly (readonly [Exclude<keyof FindingEvidence, 'pages' | 'pageImpressions'>, Column['type']])[] = [
  ['clicks', 'count'],
  ['clicksBefore', 'count'],
  ['expectedClicks', 'ratio'],
  ['impressions', 'count'],
  ['impressionsBefore', 'count'],
  ['expectedImpressions', 'ratio'],
  ['ctr', 'ratio'],
  ['expectedCtr', 'ratio'],
  ['position', 'ratio'],
  ['betterPosition', 'ratio'],
  ['weeklyChange', 'ratio'],
  ['change', 'ratio'],
  ['shownDays', 'count'],
  ['mainPageChanges', 'count'],
];

const COLUMNS: readonly (readonly [string, Column['type'], (finding: AnsweredFinding) => Cell])[] = [
  ['type', 'text', ({ type }) => type],
  ['page', 'text', ({ page }) => page ?? null],
  ['query', 'text', ({ query }) => query ?? null],
  ...EVIDENCE.map(
    ([name, type]) =>
      ['evidence_'.concat(name), type, ({ evidence }: AnsweredFinding) => evidence[name] ?? null] as const,
  ),
  ['evidence_pages', 'ids', ({ evidence }) => evidence.pages ?? []],
  ['evidence_pageImpressions', 'ids', ({ evidence }) => (evidence.pageImpressions ?? []).map(String)],
  ['gain_clicks', 'count', ({ gain }) => gain?.clicks ?? null],
  ['gain_low', 'count', ({ gain }) => gain?.low ?? null],
  ['gain_high', 'count', ({ gain }) => gain?.high ?? null],
  ['p', 'ratio', ({ p }) => p],
  ['adjusted', 'ratio', ({ adjusted }) => adjusted],
  ['since', 'day', ({ since }) => since],
  ['text', 'text', ({ text }) => text],
  ['dismissedAt', 'instant', ({ dismissedAt }) => dismissedAt ?? null],
  ['dismissedBy', 'text', ({ dismissedBy }) => dismissedBy ?? null],
];

/** One row per finding. */
export function findingRows({ project, range, findings, paging, quality }: FindingsResult): RowsAnswer {
  return {
    head: { name: `${project.domain}-findings`, total: paging.total, range, ...(quality && { quality }) },
    columns: COLUMNS.map(([name, type]) => ({ name, type })),
    batches: [
      batchOf(
        findings,
        COLUMNS.map(([, , read]) => read),
      ),
    ],
  };
}
