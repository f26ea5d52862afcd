import type { Tool } from './tool.ts';
import { aiAnswers } from './tools/ai-answers.ts';
import { alertsAndNotes } from './tools/alerts-and-notes.ts';
import { breakdowns } from './tools/breakdowns.ts';
import { changes } from './tools/changes.ts';
import { effectOf } from './tools/effect-of.ts';
import { explainChange } from './tools/explain-change.ts';
import { findings } from './tools/findings.ts';
import { hours } from './tools/hours.ts';
import { indexState } from './tools/index-state.ts';
import { keywordHistory } from './tools/keyword-history.ts';
import { listProjects } from './tools/list-projects.ts';
import { query } from './tools/query.ts';
import { sitePerformance } from './tools/site-performance.ts';
import { sitemaps } from './tools/sitemaps.ts';
import { surfaces } from './tools/surfaces.ts';
import { topRows } from './tools/top-rows.ts';

/** The tools of the MCP server, in the order in which clients list them. */
export const TOOLS: readonly Tool[] = [
  listProjects,
  sitePerformance,
  surfaces,
  aiAnswers,
  hours,
  explainChange,
  topRows,
  keywordHistory,
  breakdowns,
  changes,
  findings,
  query,
  sitemaps,
  indexState,
  alertsAndNotes,
  effectOf,
];
