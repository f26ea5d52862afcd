import { invalidRequest } from '../../domain/errors.ts';
import { alertsPreset, notesPreset } from '../../presets/events.ts';
import * as parameter from '../../presets/parameters.ts';
import { parameterOf, project } from '../arguments.ts';
import { ask, type Tool } from '../tool.ts';

/** Max alerts in the report. */
const MAX_ALERTS = 500;

const toolParameters = {
  from: parameter.day('Only alerts created, and notes that end, on or after this day.'),
  to: parameter.day('Only alerts created, and notes that begin, on or before this day.'),
  limit: parameter.wholeNumber({ minimum: 1, maximum: 500 }, 50, 'Most alerts, and most notes: the newest.'),
};

export const alertsAndNotes: Tool = {
  name: 'alerts_and_notes',
  title: 'Alerts and notes',
  description:
    'What checks have found (traffic drops, lost keywords, changed pages, rules) and what people have written down (launches, migrations, campaigns). Look here for the cause of a change.',
  parameters: { project, status: parameterOf(alertsPreset, 'status'), ...toolParameters },
  required: ['project'],
  run: async ({ project: id = '', status: sentStatus, ...sent }, call) => {
    const { from, to, limit } = parameter.readParameters(toolParameters, sent);
    if (from !== undefined && to !== undefined && from > to) {
      throw invalidRequest(`from (${from}) must not be after to (${to}).`);
    }
    const days = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const asked = {
      ...(sentStatus === undefined ? {} : { status: sentStatus }),
      ...(from === undefined ? {} : { since: from }),
      limit: String(MAX_ALERTS),
    };
    const { project: reference, alerts: newest } = await ask(alertsPreset, id, asked, call);
    const { notes } = await ask(notesPreset, id, days, call);
    const alerts = newest.filter(({ createdAt }) => to === undefined || createdAt.slice(0, 10) <= to);
    const shown = { alerts: alerts.slice(0, limit), notes: notes.slice(-limit) };
    return {
      project: reference,
      range: { from: from ?? null, to: to ?? null },
      // The report stops at this number.
      total: { alerts: newest.length === MAX_ALERTS ? `${MAX_ALERTS} or more` : alerts.length, notes: notes.length },
      returned: { alerts: shown.alerts.length, notes: shown.notes.length },
      ...shown,
    };
  },
};
