import { aiReport } from './ai.ts';
import { breakdownsReport } from './breakdowns.ts';
import { effectsReport } from './effects.ts';
import { alertsReport, notesReport } from './events.ts';
import { explainReport } from './explain.ts';
import { findingsReport } from './findings.ts';
import { groupsReport, pageGroupsReport } from './groups.ts';
import { hoursReport } from './hours.ts';
import { crawlReport, indexHistoryReport, indexReport, sitemapsReport } from './index-state.ts';
import { keywordsReport } from './keywords.ts';
import { pagesReport, queriesReport } from './pages-and-queries.ts';
import { portfolioReport } from './portfolio.ts';
import { oneProjectReport, projectsReport } from './projects.ts';
import { questionReport } from './question.ts';
import type { AnyPreset } from './report.ts';
import { siteReport } from './site.ts';
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
