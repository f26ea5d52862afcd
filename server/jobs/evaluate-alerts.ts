import { listProjectsToEvaluate } from '../catalog/alerts.ts';
import { measure, secondsSince } from '../runtime/measurements.ts';
import type { Job } from './job.ts';

/** Evaluates the alerts of projects that have changed since they were evaluated. */
export const evaluateAlerts: Job = {
  name: 'evaluate-alerts',
  isQuiet: true,
  every: 60_000,
  jitter: 0.1,
  async run({ settings, catalog, log, now, report }, signal) {
    const due = await listProjectsToEvaluate(catalog);
    // DuckDB takes 100 MB, so it is loaded only if there is work.
    if (due.length === 0) return {};
    const [{ withFacts }, { evaluateProject }] = await Promise.all([
      import('../query/with-facts.ts'),
      import('../alerts/evaluate.ts'),
    ]);
    let opened = 0;
    let resolved = 0;
    const failures: unknown[] = [];
    // One thread, so that requests can use the others.
    await withFacts({ settings: { ...settings, threads: 1 }, catalog }, async (facts) => {
      for (const [index, project] of due.entries()) {
        signal.throwIfAborted();
        report(`project ${index + 1} of ${due.length}`);
        const started = performance.now();
        try {
          const outcome = await evaluateProject({ catalog, facts }, project, { signal, now });
          const found = outcome?.opened.length ?? 0;
          const ended = outcome?.changed.filter(({ resolvedAt }) => resolvedAt !== null).length ?? 0;
          opened += found;
          resolved += ended;
          const seconds = secondsSince(started);
          measure('alertEvaluation', () => ({ outcome: 'ok', seconds, opened: found, resolved: ended }));
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
          const seconds = secondsSince(started);
          measure('alertEvaluation', () => ({ outcome: 'failed', seconds, opened: 0, resolved: 0 }));
          log.error({ err: error, project }, 'could not evaluate the alerts of a project');
        }
      }
    });
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${due.length} projects failed.`);
    return { projects: due.length, opened, resolved };
  },
};
