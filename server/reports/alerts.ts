import { type Alert, type AlertStatus, listAlerts } from '../catalog/events.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../domain/instants.ts';
import { choice, day, readParameters, wholeNumber } from './parameters.ts';
import { type ProjectQuery, type ProjectReport, projectReference, queryAbout } from './report.ts';

const parameters = {
  status: choice(['open', 'resolved', 'all'], 'all', 'Only alerts in this state.'),
  since: day('Only alerts created on or after this day (UTC).'),
  limit: wholeNumber({ minimum: 1, maximum: 500 }, 100, 'Most alerts in the answer.'),
};

interface AlertsQuery extends ProjectQuery {
  readonly status: AlertStatus;
  readonly since: Day | null;
  readonly limit: number;
}

interface AlertsPlan {
  readonly project: Project;
  readonly alerts: readonly Alert[];
}

interface AlertsResult {
  readonly project: { readonly id: string; readonly domain: string };
  readonly alerts: (Omit<Alert, 'createdAt' | 'resolvedAt'> & { createdAt: string; resolvedAt: string | null })[];
}

/** The alerts of a project, newest first. */
export const alertsReport: ProjectReport<AlertsQuery, AlertsPlan, AlertsResult> = {
  operation: 'listAlerts',
  parameters,
  needs: 'project',
  parse: (sent, project) => {
    const { status, since = null, limit } = readParameters(parameters, sent);
    return { ...queryAbout('listAlerts', project), status, since, limit };
  },
  plan: ({ status, since, limit }, { catalog, project }) => {
    const from = since === null ? Number.MIN_SAFE_INTEGER : toMicroseconds(Date.parse(since));
    return { project, alerts: listAlerts(catalog, { project: project.id, status, since: from, limit }) };
  },
  run: ({ project, alerts }) => ({
    project: projectReference(project),
    alerts: alerts.map((alert) => ({
      ...alert,
      createdAt: isoInstant(alert.createdAt),
      resolvedAt: isoInstantOrNull(alert.resolvedAt),
    })),
  }),
};
