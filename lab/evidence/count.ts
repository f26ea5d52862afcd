import type { AlertType, EvaluatedAlert } from '../../server/alerts/alert.ts';

/** How many alerts a rule has opened. */
export interface Counted {
  readonly type: AlertType | 'all';
  readonly alerts: number;
  /** Maximum alerts in any seven days. */
  readonly worstWeek: number;
}

export function countAlerts(alerts: readonly EvaluatedAlert[]): Counted[] {
  const byType = [...Map.groupBy(alerts, ({ type }) => type)].sort(([a], [b]) => a.localeCompare(b));
  return [...byType, ['all', alerts] as const].map(([type, own]) => ({
    type,
    alerts: own.length,
    worstWeek: worstWeek(own.map(({ date }) => Date.parse(date) / 86_400_000)),
  }));
}

/** Maximum number of days of a list within seven days. */
export function worstWeek(days: readonly number[]): number {
  return days.reduce((most, day) => Math.max(most, days.filter((other) => other >= day && other < day + 7).length), 0);
}
