import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { findLargestProject } from '../catalog/projects.ts';
import { keywordsJson } from '../formats/keywords-json.ts';
import { keywordsReport } from '../reports/keywords.ts';
import { askReport } from '../reports/report.ts';
import type { Context } from './routes/context.ts';
import { whileListening } from './while-listening.ts';

/** The keywords of a larger project would take more memory than an idle server should. */
const MAX_KEYWORDS = 5000;
/** More times compile more of the code, but take more memory than they save time. */
const TIMES = 2;

/**
 * Asks a question about the largest project when the server has listened for `after` milliseconds, and drops the answer:
 * otherwise the first client waits ten times as long as later ones, while keywords are read, files compared, statements
 * planned and code compiled. Ends when the server closes.
 */
export function addWarmUp(app: FastifyInstance, context: Context, after: number): void {
  whileListening(app, 'could not prepare for the first question', (signal) => warmUp(context, after, signal));
}

async function warmUp(context: Context, after: number, signal: AbortSignal): Promise<void> {
  await sleep(after, undefined, { signal });
  const project = await findLargestProject(context.catalog, MAX_KEYWORDS);
  if (project === undefined) return;
  const request = { ...project, projects: null, reader: '', signal };
  for (let time = 0; time < TIMES; time++) {
    keywordsJson(await askReport(keywordsReport, context, request, { limit: String(MAX_KEYWORDS) }));
  }
}
