import { type AlertStatus, listAlerts } from '../catalog/events.ts';
import type { Day } from '../domain/dates.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../domain/instants.ts';
import { choice, day, formatParameters, readParameters, rowLimit, wholeNumber } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = {
  status: choice('AlertStatus', ['open', 'resolved', 'all'], 'all', 'Only alerts in this state.'),
  since: day('Only alerts created on or after this day (UTC).'),
  limit: wholeNumber({ minimum: 1, maximum: 500 }, 100, 'Maximum number of alerts.'),
  ...formatParameters,
};

/** The alerts of a project, newest first. */
export const alertsReport = projectReport({
  operation: 'listAlerts',
  parameters,
  // `siteOnly` is set for shared links; no parameter does.
  parse: (sent): { status: AlertStatus; since: Day | undefined; limit: number | null; siteOnly?: boolean } => {
    const { status, since, limit } = readParameters(parameters, sent);
    return { status, since, limit: rowLimit(sent, limit) };
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
});

/** The alert in the dashboard, also once it is resolved. */
function dashboardUrl(publicUrl: string, project: string, alert: string): string {
  return `${publicUrl}/app/p/${project}/alerts?status=all&alert=${alert}`;
}

export type AlertsResult = Awaited<ReturnType<typeof alertsReport.run>>;
