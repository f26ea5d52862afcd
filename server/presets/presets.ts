import { aiPreset } from './ai.ts';
import { breakdownsPreset } from './breakdowns.ts';
import { effectsPreset } from './effects.ts';
import { alertsPreset, notesPreset } from './events.ts';
import { explainPreset } from './explain.ts';
import { findingsPreset } from './findings.ts';
import { groupsPreset, pageGroupsPreset } from './groups.ts';
import { hoursPreset } from './hours.ts';
import { crawlPreset, indexHistoryPreset, indexPreset, sitemapsPreset } from './index-state.ts';
import { keywordsPreset } from './keywords.ts';
import { pagesPreset, queriesPreset } from './pages-and-queries.ts';
import { portfolioPreset } from './portfolio.ts';
import type { AnyPreset } from './preset.ts';
import { oneProjectPreset, projectsPreset } from './projects.ts';
import { questionPreset } from './question.ts';
import { sitePreset } from './site.ts';
import { snapshotPreset } from './snapshot.ts';
import { surfacesPreset } from './surfaces.ts';

/** All presets, in the order of the documentation. */
export const PRESETS: readonly AnyPreset[] = [
  projectsPreset,
  oneProjectPreset,
  portfolioPreset,
  keywordsPreset,
  groupsPreset,
  pageGroupsPreset,
  sitePreset,
  surfacesPreset,
  aiPreset,
  hoursPreset,
  sitemapsPreset,
  indexPreset,
  indexHistoryPreset,
  crawlPreset,
  breakdownsPreset,
  explainPreset,
  pagesPreset,
  queriesPreset,
  findingsPreset,
  questionPreset,
  alertsPreset,
  notesPreset,
  effectsPreset,
  snapshotPreset,
];
