import type { StoredRule } from '../catalog/alert-rules.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { addDays, type Day, eachDay, earlier } from '../domain/dates.ts';
import { PROVIDER_EVENTS } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { EvaluatedAlert } from './alert.ts';
import { AlertCalendar } from './calendar.ts';
import type { AlertProject } from './project-state.ts';
import { type RuleFiles, readRuleFiles, readRuleSubject } from './rule-facts.ts';
import { replayRule } from './rule-replay.ts';
import { lookBackOf, type UserRuleResult, userRule } from './user-rule.ts';

/** The first evaluated day of each rule, and its definition at that time. */
export type RuleStarts = Readonly<Record<string, { readonly basis: string; readonly from: Day }>>;

/** A rule to evaluate, with its files. */
interface RuleInput {
  readonly stored: StoredRule;
  readonly basis: string;
  /** The first day to evaluate. */
  readonly from: Day;
  readonly files: RuleFiles;
}

/**
 * The enabled rules of a project with their files. New and changed rules start with `first`, others with their previous
 * first day.
 */
export async function readRulesFiles(
  tx: Catalog,
  state: AlertProject,
  { first, to }: { first: Day; to: Day },
): Promise<RuleInput[]> {
  const known = JSON.parse(state.evaluation?.rules ?? '{}') as RuleStarts;
  const inputs: RuleInput[] = [];
  for (const stored of state.rules.filter(({ enabled }) => enabled)) {
    const basis = JSON.stringify(stored.rule);
    const start = known[stored.id];
    const from = start?.basis === basis ? earlier(start.from, first) : first;
    inputs.push({ stored, basis, from, files: await filesFrom(tx, state, stored, { from, to }) });
  }
  return inputs;
}

/** Replays rules from their first day. Rules whose subject no longer exists have no start. */
export async function evaluateRules(
  facts: Facts,
  state: AlertProject,
  inputs: readonly RuleInput[],
  signal: AbortSignal,
): Promise<{ alerts: EvaluatedAlert[]; starts: RuleStarts }> {
  const alerts: EvaluatedAlert[] = [];
  const starts: Record<string, { basis: string; from: Day }> = {};
  for (const { stored, basis, from, files } of inputs) {
    const subject = await readRuleSubject(facts, state, files, stored, signal);
    if (subject === undefined) continue;
    starts[stored.id] = { basis, from };
    const calendar = new AlertCalendar(files.range, PROVIDER_EVENTS, state.notes);
    const days = { from: calendar.indexOf(from), to: calendar.length - 1 };
    alerts.push(...replayRule({ ...stored, about: subject.about }, { sums: subject.sums, calendar }, days));
  }
  return { alerts, starts };
}

/** The days of a range on which a rule would have opened an alert. Throws if its subject does not exist. */
export async function testRule(
  tx: Catalog,
  facts: Facts,
  state: AlertProject,
  stored: StoredRule,
  { range, signal }: { range: Range; signal: AbortSignal },
): Promise<Day[]> {
  const files = await filesFrom(tx, state, stored, range);
  const subject = await readRuleSubject(facts, state, files, stored, signal);
  if (subject === undefined) throw new Error(`The ${stored.rule.scope} '${stored.rule.id}' does not exist.`);
  const calendar = new AlertCalendar(files.range, PROVIDER_EVENTS, []);
  const days = { from: calendar.indexOf(range.from), to: calendar.length - 1 };
  const alerts = replayRule({ ...stored, about: subject.about }, { sums: subject.sums, calendar }, days);
  return alerts.map(({ date }) => date);
}

/** What a rule compares on each day of a range, undefined where it has no result and if its subject no longer exists. */
export async function readRuleFigures(
  tx: Catalog,
  facts: Facts,
  state: AlertProject,
  stored: Pick<StoredRule, 'rule'>,
  { range, signal }: { range: Range; signal: AbortSignal },
): Promise<(UserRuleResult | undefined)[] | undefined> {
  const files = await filesFrom(tx, state, stored, range);
  const subject = await readRuleSubject(facts, state, files, stored, signal);
  if (subject === undefined) return undefined;
  const before = lookBackOf(stored.rule);
  return eachDay(range.from, range.to).map((_, index) => userRule(stored.rule, subject.sums, before + index));
}

function filesFrom(
  tx: Catalog,
  { project }: AlertProject,
  { rule }: Pick<StoredRule, 'rule'>,
  { from, to }: { from: Day; to: Day },
): Promise<RuleFiles> {
  return readRuleFiles(tx, project, { from: addDays(from, -lookBackOf(rule)), to });
}
