import type { Calendar } from './calendar.ts';
import { uuid } from './ids.ts';
import type { Keyword } from './keywords.ts';
import type { AlertPlan, History, Move, Site } from './site.ts';

const APP = 'https://ordinate.example/app/projects';

const KINDS = {
  keyword_drop: 'Keyword drop',
  keyword_lost: 'Keyword lost',
  traffic_drop: 'Traffic drop',
  rule: 'Alert rule',
  url_mismatch: 'Unexpected page',
  url_changed: 'Page changed',
} as const;

interface Alert extends Omit<AlertPlan, 'type'> {
  type: keyof typeof KINDS;
}

/** The rows of the table `alerts`: the alerts of the site's history, and one for each keyword that lost its position. */
export function alertRows(site: Site, history: History, keywords: readonly Keyword[], calendar: Calendar): object[] {
  const moved = history.moves.map((move) => alertAbout(move, keywords.find((each) => each.query === move.query)!));
  return [...moved, ...history.alerts].map((alert: Alert, index) => {
    const keyword = keywords.find((each) => each.query === alert.query);
    const subject = keyword ? `keywords/${keyword.id}` : alert.type === 'rule' ? 'alerts' : 'site';
    return {
      id: uuid(`${site.projectId} alert ${alert.type} ${alert.query ?? alert.title} ${alert.ago}`),
      project_id: site.projectId,
      type: alert.type,
      kind: KINDS[alert.type],
      severity: alert.severity,
      title: alert.title,
      body: alert.body,
      // Alerts of a user's own rule cover a range of days and name none of them.
      date: alert.type === 'rule' ? null : calendar.ago(alert.ago),
      keyword_id: keyword?.id ?? null,
      url: `${APP}/${site.projectId}/${subject}`,
      created_at: calendar.morningAfter(alert.ago, 15 + index),
      resolved_at: alert.lasted === null ? null : calendar.morningAfter(alert.ago - alert.lasted, 15 + index),
    };
  });
}

function alertAbout(move: Move, { model }: Keyword): Alert {
  const before = Math.round(model.position);
  const after = Math.round(model.position * move.worse);
  const about = { query: move.query, ago: move.ago, lasted: move.back === null ? null : move.ago - move.back };
  if (move.kept === 0) {
    const title = `"${move.query}" is no longer found`;
    const body = `The query had about ${Math.round(model.volume)} impressions a day at position ${before} and now has none.`;
    return { ...about, type: 'keyword_lost', severity: model.volume >= 20 ? 'critical' : 'warning', title, body };
  }
  const title = `"${move.query}" fell from about position ${before} to ${after}`;
  const body = `The average position of the query went from ${before} to ${after} within a day and stayed there.`;
  const severity = before <= 10 && after > 10 && model.volume >= 300 ? 'critical' : 'warning';
  return { ...about, type: 'keyword_drop', severity, title, body };
}
