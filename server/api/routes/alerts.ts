import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { alertsReport } from '../../presets/alerts.ts';
import { alertRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { day, instant, nullable, object, oneOf, project, shortId, uuid } from '../schemas.ts';
import type { Route } from './route.ts';

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

export const alerts: Route = {
  path: '/projects/:id/alerts',
  report: alertsReport,
  tag: 'Alerts and notes',
  summary: 'The alerts of a project',
  description: 'Newest first.',
  response: responses(answer, 'The alerts.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/alerts?status=open', 400: '/projects/Proj1/alerts?since=2026-02-30' },
  handle: answerWith(alertsReport, {
    json: documentJson<Static<typeof answer>>,
    rows: alertRows,
    version: wholeResult,
  }),
};
