import { Type } from 'typebox';
import { type AlertStatus, listAlerts, listNotes } from '../catalog/alerts.ts';
import { WORDS, withTexts } from '../catalog/entities.ts';
import type { Day } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { objects } from '../formats/table.ts';
import * as parameter from './parameters.ts';
import { projectPreset, projectReference, wholeResult } from './preset.ts';
import { answered, columnsOf, nullable, object, oneOf, project, shortId } from './schemas.ts';

const alertParameters = {
  status: parameter.choice('AlertStatus', ['open', 'resolved', 'all'], 'all', 'Only alerts in this state.'),
  since: parameter.day('Only alerts created on or after this day (UTC).'),
  limit: parameter.wholeNumber({ minimum: 1, maximum: 500 }, 100, 'Maximum number of alerts.'),
  ...parameter.formatParameters,
};

const alert = object('Alert', {
  ...answered('alerts', ['projectId']),
  severity: oneOf('AlertSeverity', WORDS.severity, 'Its severity.'),
});

const alertsAnswer = object('AlertsAnswer', { project, alerts: Type.Array(alert) });

/** The alerts of a project, newest first. */
export const alertsPreset = projectPreset({
  path: '/projects/:id/alerts',
  operation: 'listAlerts',
  tag: 'Alerts and notes',
  summary: 'The alerts of a project',
  description: 'Newest first.',
  answer: alertsAnswer,
  content: 'The alerts.',
  examples: { 200: '/projects/Proj1/alerts?status=open', 400: '/projects/Proj1/alerts?since=2026-02-30' },
  parameters: alertParameters,
  // `siteOnly` is set for shared links; no parameter does.
  parse: (sent): { status: AlertStatus; since: Day | undefined; limit: number | null; siteOnly?: boolean } => {
    const { status, since, limit } = parameter.readParameters(alertParameters, sent);
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
      ...withTexts('alerts', alert),
      url: alert.url ?? (publicUrl && dashboardUrl(publicUrl, project.id, alert.id)),
    })),
  }),
  rows: ({ project, alerts }) => objects({ name: `${project.domain}-alerts` }, alerts, columnsOf(alert)),
  version: wholeResult,
});

/** The alert in the dashboard, also once it is resolved. */
function dashboardUrl(publicUrl: string, project: string, alert: string): string {
  return `${publicUrl}/app/p/${project}/alerts?status=all&alert=${alert}`;
}

const noteParameters = {
  from: parameter.day('Only notes that end on or after this day.'),
  to: parameter.day('Only notes that start on or before this day.'),
  clientVisible: parameter.flag('True for client-visible notes only; false for all notes.'),
  ...parameter.formatParameters,
};

export const noteKeyword = object('NoteKeyword', { id: shortId, query: Type.String() });

const noteGroup = object('NoteGroup', { id: shortId, name: Type.String() });
const noteFields = answered('notes', ['workspaceId', 'projectId', 'groupId', 'keywordId']);
const { page, createdAt, updatedAt, ...aboutNote } = noteFields;

export const noteSchema = object('Note', {
  ...aboutNote,
  group: nullable(noteGroup),
  keyword: nullable(noteKeyword),
  page,
  createdAt,
  updatedAt,
});

const notesAnswer = object('NotesAnswer', { project, notes: Type.Array(noteSchema) });

/** The notes that apply to a project, oldest first. */
export const notesPreset = projectPreset({
  path: '/projects/:id/notes',
  operation: 'listNotes',
  tag: 'Alerts and notes',
  summary: 'The notes that apply to a project',
  description: 'Oldest first: notes of the workspace, of the project, and of its groups, keywords and pages.',
  answer: notesAnswer,
  content: 'The notes.',
  examples: {
    200: '/projects/Proj1/notes?from=2026-03-03',
    400: '/projects/Proj1/notes?from=2026-03-03&to=2026-03-02',
  },
  parameters: noteParameters,
  parse: (sent) => {
    const { from = null, to = null, clientVisible } = parameter.readParameters(noteParameters, sent);
    if (from !== null && to !== null && from > to) throw invalidRequest(`from (${from}) must not be after to (${to}).`);
    return { from, to, clientVisible };
  },
  plan: async ({ from, to, clientVisible }, { catalog, project }) => ({
    project,
    notes: await listNotes(catalog, { project: project.id, workspace: project.workspaceId, from, to, clientVisible }),
  }),
  run: ({ project, notes }) => ({
    project: projectReference(project),
    notes: notes.map((note) => withTexts('notes', note)),
  }),
  rows: ({ project, notes }) => objects({ name: `${project.domain}-notes` }, notes, columnsOf(noteSchema)),
  version: wholeResult,
});
