import type { Job } from './job.ts';
import { refreshLists } from './refresh-lists.ts';
import { sweepFacts } from './sweep-facts.ts';
import { sweepListFiles } from './sweep-lists.ts';
import { syncProjects } from './sync-projects.ts';

/** All that is done in the background. What a job needs of DuckDB or of providers it imports when it runs. */
export const JOBS: readonly Job[] = [sweepFacts, sweepListFiles, refreshLists, syncProjects];
