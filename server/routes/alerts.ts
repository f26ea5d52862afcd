import { Type } from 'typebox';
import { listAlerts } from '../catalog/events.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../domain/instants.ts';
import { projectReference, readProject } from '../http/guard.ts';
import { choice, day as dayParameter, readParameters, wholeNumber } from '../http/parameters.ts';
import { day, instant, nullable, object, oneOf, project, responses, shortId, uuid } from '../http/schemas.ts';
import type { Route } from './route.ts';

const alert = object({
  id: uuid,
  type: Type.String({ description: 'Machine name of the check, such as keyword_drop or traffic_drop.' }),
  kind: Type.String({ description: 'Label of the check.' }),
  severity: oneOf(['info', 'warning', 'critical']),
  title: Type.String(),
  body: Type.String(),
  date: nullable(day, 'The day the alert is about, when it names one.'),
  keywordId: nullable(shortId, 'Set for keyword alerts.'),
  url: nullable(Type.String(), "Link to the alert's subject."),
  createdAt: instant,
  resolvedAt: nullable(instant, 'Null while the alert is open.'),
});

const answer = object({ project, alerts: Type.Array(alert) });

const parameters = {
  status: choice(['open', 'resolved', 'all'], 'all', 'Only alerts in this state.'),
  since: dayParameter('Only alerts created on or after this day (UTC).'),
  limit: wholeNumber({ minimum: 1, maximum: 500 }, 100, 'Most alerts in the answer.'),
};

export const alerts: Route<typeof answer> = {
  path: '/projects/:id/alerts',
  operation: 'listAlerts',
  tag: 'Alerts and notes',
  summary: 'The alerts of a project',
  description: 'Newest first.',
  parameters,
  response: responses(answer, 'The alerts.', ['invalid_request', 'not_found']),
  handle:
    ({ catalog }) =>
    (request) => {
      const read = readProject(catalog, request, ({ id }) => {
        const { status, since, limit } = readParameters(parameters, request.query);
        const from = since === undefined ? Number.MIN_SAFE_INTEGER : toMicroseconds(Date.parse(since));
        return { alerts: listAlerts(catalog, { project: id, status, since: from, limit }) };
      });
      return {
        project: projectReference(read.project),
        alerts: read.alerts.map((found) => ({
          ...found,
          createdAt: isoInstant(found.createdAt),
          resolvedAt: isoInstantOrNull(found.resolvedAt),
        })),
      };
    },
};
