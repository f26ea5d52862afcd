import { toMetrics } from '../domain/metrics.ts';
import type { Rendering } from '../lists/blocks.ts';
import {
  type ListPlan,
  type ListQuery,
  type ListResult,
  listParameters,
  parseList,
  planList,
  runList,
} from './lists.ts';
import type { ProjectReport } from './report.ts';

const RENDERING: Rendering = { variant: '', render: (row) => ({ url: row.text, ...toMetrics(row) }) };

/** The pages of the property with totals over a range. */
export const pagesReport: ProjectReport<ListQuery, ListPlan, ListResult> = {
  operation: 'listPages',
  parameters: listParameters,
  needs: 'project',
  parse: (sent, project, now) => parseList('listPages', 'pages', sent, project, now),
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, RENDERING),
  run: runList,
};
