import type { AlertRule } from '../domain/alert-rules.ts';
import type { EvaluatedAlert, Severity } from './alert.ts';
import type { AlertCalendar } from './calendar.ts';
import type { DailySums } from './daily-sums.ts';
import { countTowardsEnd, countTowardsOpening, newState, open, type SubjectState } from './lifecycle.ts';
import { userRuleText } from './texts.ts';
import { lookBackOf, type UserRuleResult, userRule } from './user-rule.ts';

/** A user rule with the name of its subject. */
export interface NamedRule {
  readonly id: string;
  readonly name: string;
  readonly rule: AlertRule;
  readonly severity: Severity;
  /** Such as `the site` or `"boots"`. */
  readonly about: string;
}

interface RuleFacts {
  readonly sums: DailySums;
  readonly calendar: AlertCalendar;
}

/** The alerts of a rule over a range of days, evaluated in order. */
export function replayRule(
  named: NamedRule,
  facts: RuleFacts,
  { from, to }: { from: number; to: number },
): EvaluatedAlert[] {
  const { rule } = named;
  const { calendar } = facts;
  const alerts: EvaluatedAlert[] = [];
  const lifecycle = { opensAfter: rule.for ?? 1, resolvesAfter: 1, expiresAfter: null };
  let state: SubjectState<null> = newState();
  for (let day = from; day <= to; day++) {
    const result = resultOf(rule, facts, day);
    if (state.open === null) {
      if (!countTowardsOpening(lifecycle, state, result?.opens ?? false)) continue;
      open(state, day, null);
      alerts.push(alertOf(named, result!, calendar, day));
      continue;
    }
    if (countTowardsEnd(lifecycle, state.open, day, result?.isBack) === undefined) continue;
    const alert = alerts.at(-1)!;
    alert.resolvedOn = calendar.dayAt(day);
    alert.body += calendar.resolved(day, 'its condition no longer holds');
    state = newState();
  }
  return alerts;
}

function resultOf(rule: AlertRule, { sums, calendar }: RuleFacts, day: number): UserRuleResult | undefined {
  const from = day - lookBackOf(rule);
  if (from < 0) return undefined;
  // Provider events do not affect clicks.
  if (rule.metric !== 'clicks' && calendar.crossesEvent(from, day)) return undefined;
  return userRule(rule, sums, day);
}

function alertOf(
  { id, name, rule, severity, about }: NamedRule,
  result: UserRuleResult,
  calendar: AlertCalendar,
  day: number,
): EvaluatedAlert {
  const date = calendar.dayAt(day);
  const keywordId = rule.scope === 'keyword' ? rule.id! : null;
  const { title, body } = userRuleText(name, { rule, about }, result, date);
  return {
    type: 'rule',
    subject: id,
    basis: JSON.stringify(rule),
    severity,
    title,
    body: body + calendar.notesAbout(day, keywordId),
    date,
    keywordId,
    resolvedOn: null,
  };
}
