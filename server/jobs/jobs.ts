import { copyCatalog } from './copy-catalog.ts';
import { evaluateAlerts } from './evaluate-alerts.ts';
import { inspectPages } from './inspect-pages.ts';
import type { Job } from './job.ts';
import { pruneFacts } from './prune-facts.ts';
import { readRankingUpdates } from './read-ranking-updates.ts';
import { readSitemaps } from './read-sitemaps.ts';
import { refreshLists } from './refresh-lists.ts';
import { sendDeliveries } from './send-deliveries.ts';
import { sweepFacts } from './sweep-facts.ts';
import { sweepListFiles } from './sweep-lists.ts';
import { syncProjects } from './sync-projects.ts';
import { writeDigests } from './write-digests.ts';

/** All background jobs. Jobs import DuckDB and providers only when they run. */
export const JOBS: readonly Job[] = [
  copyCatalog,
  sweepFacts,
  sweepListFiles,
  refreshLists,
  syncProjects,
  readSitemaps,
  inspectPages,
  readRankingUpdates,
  evaluateAlerts,
  sendDeliveries,
  writeDigests,
  pruneFacts,
];
