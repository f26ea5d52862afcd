import type { Day } from '../domain/dates.ts';

export type KeywordAlertType = 'keyword_drop' | 'keyword_lost' | 'url_changed' | 'url_mismatch';
export type AlertType = 'traffic_drop' | KeywordAlertType | 'rule';

/** What each check is called for people. */
export const ALERT_KINDS: Readonly<Record<AlertType, string>> = {
  traffic_drop: 'Traffic drop',
  keyword_drop: 'Keyword drop',
  keyword_lost: 'Keyword lost',
  url_changed: 'Page changed',
  url_mismatch: 'Unexpected page',
  rule: 'Alert rule',
};

export type Severity = 'info' | 'warning' | 'critical';

/** An alert as evaluation makes it. */
export interface EvaluatedAlert {
  readonly type: AlertType;
  /** What it is about: at most one alert is open for each type and subject. */
  readonly subject: string;
  /** What was set by people when it opened (a rule, a target page): where that changes, the alert is no longer looked at. */
  readonly basis: string;
  severity: Severity;
  readonly title: string;
  body: string;
  /** The evaluated day on which it opened. */
  readonly date: Day;
  readonly keywordId: string | null;
  /** The evaluated day on which it resolved. */
  resolvedOn: Day | null;
}

/** The subject of alerts about the whole site. */
export const SITE_SUBJECT = 'site';
