import type { Day } from '../domain/dates.ts';

export type KeywordAlertType = 'keyword_drop' | 'keyword_lost' | 'url_changed' | 'url_mismatch';
export type IndexAlertType = 'page_dropped_from_index' | 'canonical_changed';
export type AlertType = 'traffic_drop' | 'hourly_stop' | 'surface_stale' | IndexAlertType | KeywordAlertType | 'rule';

/** Display names of alert types. */
export const ALERT_KINDS: Readonly<Record<AlertType, string>> = {
  traffic_drop: 'Traffic drop',
  hourly_stop: 'Clicks stopped',
  surface_stale: 'No new days',
  page_dropped_from_index: 'Page dropped from index',
  canonical_changed: 'Canonical changed',
  keyword_drop: 'Keyword drop',
  keyword_lost: 'Keyword lost',
  url_changed: 'Page changed',
  url_mismatch: 'Unexpected page',
  rule: 'Alert rule',
};

export type Severity = 'info' | 'warning' | 'critical';

/** An alert produced by an evaluation. */
export interface EvaluatedAlert {
  readonly type: AlertType;
  /** The keyword, page, rule or site it concerns. At most one alert per type and subject is open. */
  readonly subject: string;
  /**
   * The user setting at opening (a rule, a target page). When it changes, the alert is no longer evaluated. The hour of an
   * alert about hours, the instant of one about the index.
   */
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
