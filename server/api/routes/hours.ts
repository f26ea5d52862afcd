import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { hoursReport } from '../../presets/hours.ts';
import { hoursTable } from '../../presets/property-tables.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import { metricsProperties, nullable, object, project } from '../schemas.ts';
import type { Route } from './route.ts';

const hour = Type.String({
  format: 'date-time',
  description: 'The start of an hour, in Pacific time; the offset tells the two hours apart that clocks show twice.',
});

const answer = object('HoursAnswer', {
  project,
  range: object('HoursRange', {
    from: hour,
    to: hour,
    provisionalAfter: nullable(hour, 'The last final hour; later hours may still change. Null before the first.'),
  }),
  hours: Type.Array(object('HourMetrics', { hour, ...metricsProperties })),
});

export const hours: Route = {
  path: '/projects/:id/hours',
  report: hoursReport,
  tag: 'Site',
  summary: 'The whole property by hour',
  description:
    'Hours are stored from the connection of the project on; the provider keeps ten days of them. A stored hour without data is zeros; hours of days that are not stored are left out. Days have 23 to 25 hours. The provider counts hours and days separately: hours are never added to days.',
  response: responses(answer, 'The hours, in order.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/hours?from=2026-03-08&to=2026-03-08T04:00:00-07:00',
    400: '/projects/Proj1/hours?from=2026-03-08T04',
  },
  handle: answerWith(hoursReport, {
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: hoursTable,
  }),
};
