import type { StoredRule } from '../catalog/alert-rules.ts';
import { addDays, type Day } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import type { EvaluationStores } from './evaluate.ts';
import { lastStoredFinalDay, readAlertProject } from './project-state.ts';
import { testRule } from './rules.ts';

/** The days of the year up to the last final day on which a rule would have opened an alert. */
export async function testRuleOfProject(
  { catalog, facts }: EvaluationStores,
  rule: StoredRule,
  { now, signal = new AbortController().signal }: { now: number; signal?: AbortSignal },
): Promise<{ range: Range; days: Day[] }> {
  const outcome = await readAlertProject(catalog, rule.project, async (state, snapshot) => {
    const to = lastStoredFinalDay(state.project, now);
    if (to === undefined) return undefined;
    const range = { from: addDays(to, -364), to };
    return { range, days: await testRule(snapshot, facts, state, rule, { range, signal }) };
  });
  if (outcome === undefined) throw new KnownError('conflict', `The project '${rule.project}' has no final day yet.`);
  return outcome;
}
