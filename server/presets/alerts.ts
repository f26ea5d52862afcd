import { Type } from 'typebox';
import { type AlertStatus, listAlerts } from '../catalog/events.ts';
import type { Day } from '../domain/dates.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../domain/instants.ts';
import { objects } from '../formats/table.ts';
import * as parameter from './parameters.ts';
import { projectReference, projectReport, wholeResult } from './report.ts';
import { columnsOf, day, instant, nullable, object, oneOf, project, shortId, uuid } from './schemas.ts';

const parameters = {
  status: parameter.choice('AlertStatus', ['open', 'resolved', 'all'], 'all', 'Only alerts in this state.'),
  since: parameter.day('Only alerts created on or after this day (UTC).'),
  limit: parameter.wholeNumber({ minimum: 1, maximum: 500 }, 100, 'Maximum number of alerts.'),
  ...parameter.formatParameters,
};

const alert = object('Alert', {
  id: uuid,
  type: Type.String({ description: 'Machine name of the check, such as keyword_drop or traffic_drop.' }),
  kind: Type.String({ description: 'Label of the check.' }),
  severity: oneOf('AlertSeverity', ['info', 'warning', 'critical']),
  title: Type.String(),
  body: Type.String(),
  date: nullable(day, 'The day the alert is about, when it names one.'),
  keywordId: nullable(shortId, 'Set for keyword alerts.'),
  url: nullable(Type.String(), "Link to the alert's subject."),
  createdAt: instant,
  resolvedAt: nullable(instant, 'Null while the alert is open.'),
});

const answer = object('AlertsAnswer', { project, alerts: Type.Array(alert) });

/** The alerts of a project, newest first. */
export const alertsReport = projectReport({
  path: '/projects/:id/alerts',
  operation: 'listAlerts',
  tag: 'Alerts and notes',
  summary: 'The alerts of a project',
  description: 'Newest first.',
  answer,
  content: 'The alerts.',
  examples: { 200: '/projects/Proj1/alerts?status=open', 400: '/projects/Proj1/alerts?since=2026-02-30' },
  parameters,
  // `siteOnly` is set for shared links; no parameter does.
  parse: (sent): { status: AlertStatus; since: Day | undefined; limit: number | null; siteOnly?: boolean } => {
    const { status, since, limit } = parameter.readParameters(parameters, sent);
    return { status, since, limit: parameter.rowLimit(sent, limit) };
  },
  plan: async ({ status, since, limit, siteOnly = false }, { catalog, project }) => {
    const from = since === undefined ? Number.MIN_SAFE_INTEGER : toMicroseconds(Date.parse(since));
    const query = { project: project.id, status, since: from, limit, siteOnly };
    return { project, alerts: await listAlerts(catalog, query) };
  },
  run: ({ project, alerts }, { publicUrl }) => ({
    project: projectReference(project),
    alerts: alerts.map((alert) => ({
      ...alert,
      url: alert.url ?? (publicUrl && dashboardUrl(publicUrl, project.id, alert.id)),
      createdAt: isoInstant(alert.createdAt),
      resolvedAt: isoInstantOrNull(alert.resolvedAt),
    })),
  }),
  rows: ({ project, alerts }) => objects({ name: `${project.domain}-alerts` }, alerts, columnsOf(alert)),
  version: wholeResult,
});

/** The alert in the dashboard, also once it is resolved. */
function dashboardUrl(publicUrl: string, project: string, alert: string): string {
  return `${publicUrl}/app/p/${project}/alerts?status=all&alert=${alert}`;
}
