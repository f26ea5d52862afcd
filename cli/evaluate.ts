import { listProjectsToEvaluate } from '../server/catalog/alerts.ts';
import type { Stores } from '../server/load/stores.ts';
import { withoutLostRollups } from '../server/load/without-lost-rollups.ts';

/**
 * Evaluates the alerts of projects after their facts were published. A failure is returned as a warning, because the
 * published facts stay.
 */
export async function evaluateAfter(
  stores: Stores,
  projects: readonly string[],
  report: (step: string) => void,
): Promise<{ opened: number; resolved: number; warnings: string[] }> {
  const { settings, catalog } = stores;
  const outcome = { opened: 0, resolved: 0, warnings: [] as string[] };
  try {
    // The load may also have removed projects.
    const due = (await listProjectsToEvaluate(catalog)).filter((project) => projects.includes(project));
    if (due.length === 0) return outcome;
    const [{ withFacts }, { evaluateProject }] = await Promise.all([
      import('../server/query/with-facts.ts'),
      import('../server/alerts/evaluate.ts'),
    ]);
    await withFacts({ settings, catalog }, async (facts) => {
      for (const project of due) {
        report(`evaluating the alerts of ${project}`);
        const changes = await withoutLostRollups(stores, () => evaluateProject({ catalog, facts }, project));
        outcome.opened += changes?.opened.length ?? 0;
        outcome.resolved += changes?.changed.filter(({ resolvedAt }) => resolvedAt !== null).length ?? 0;
      }
    });
  } catch (error) {
    const { message } = error as Error;
    outcome.warnings.push(`Alerts were not evaluated: ${message} 'ordinate alerts evaluate' tries again.`);
  }
  return outcome;
}
