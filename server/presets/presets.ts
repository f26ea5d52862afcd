import { aiReport } from './ai.ts';
import { alertsReport } from './alerts.ts';
import { breakdownsReport } from './breakdowns.ts';
import { crawlReport } from './crawl.ts';
import { effectsReport } from './effects.ts';
import { explainReport } from './explain.ts';
import { findingsReport } from './findings.ts';
import { groupsReport } from './groups.ts';
import { hoursReport } from './hours.ts';
import { indexHistoryReport, indexReport } from './index-state.ts';
import { keywordsReport } from './keywords.ts';
import { notesReport } from './notes.ts';
import { pageGroupsReport } from './page-groups.ts';
import { pagesReport } from './pages.ts';
import { portfolioReport } from './portfolio.ts';
import { oneProjectReport, projectsReport } from './projects.ts';
import { queriesReport } from './queries.ts';
import { questionReport } from './question.ts';
import type { AnyPreset } from './report.ts';
import { siteReport } from './site.ts';
import { sitemapsReport } from './sitemaps.ts';
import { snapshotReport } from './snapshot.ts';
import { surfacesReport } from './surfaces.ts';

/** All presets, in the order of the documentation. */
export const PRESETS: readonly AnyPreset[] = [
  projectsReport,
  oneProjectReport,
  portfolioReport,
  keywordsReport,
  groupsReport,
  pageGroupsReport,
  siteReport,
  surfacesReport,
  aiReport,
  hoursReport,
  sitemapsReport,
  indexReport,
  indexHistoryReport,
  crawlReport,
  breakdownsReport,
  explainReport,
  pagesReport,
  queriesReport,
  findingsReport,
  questionReport,
  alertsReport,
  notesReport,
  effectsReport,
  snapshotReport,
];
