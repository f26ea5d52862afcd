import { Type } from 'typebox';
import { listNotes, NOTE_CATEGORIES, NOTE_SCOPES, type Note } from '../catalog/events.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { objects } from '../formats/table.ts';
import * as parameter from './parameters.ts';
import { projectReference, projectReport, wholeResult } from './report.ts';
import { columnsOf, day, instant, nullable, object, openWords, project, shortId, uuid } from './schemas.ts';

const parameters = {
  from: parameter.day('Only notes that end on or after this day.'),
  to: parameter.day('Only notes that start on or before this day.'),
  clientVisible: parameter.flag('True for client-visible notes only; false for all notes.'),
  ...parameter.formatParameters,
};

export const noteKeyword = object('NoteKeyword', { id: shortId, query: Type.String() });

export const noteSchema = object('Note', {
  id: uuid,
  scope: openWords(NOTE_SCOPES),
  date: day,
  endDate: nullable(day, 'Last day of a range note; null for a single day.'),
  category: openWords(NOTE_CATEGORIES),
  text: Type.String(),
  clientVisible: Type.Boolean({ description: 'Visible to clients in reports.' }),
  author: Type.String(),
  group: nullable(object('NoteGroup', { id: shortId, name: Type.String() })),
  keyword: nullable(noteKeyword),
  page: nullable(Type.String()),
  createdAt: instant,
  updatedAt: instant,
});

const answer = object('NotesAnswer', { project, notes: Type.Array(noteSchema) });

/** The notes that apply to a project, oldest first. */
export const notesReport = projectReport({
  path: '/projects/:id/notes',
  operation: 'listNotes',
  tag: 'Alerts and notes',
  summary: 'The notes that apply to a project',
  description: 'Oldest first: notes of the workspace, of the project, and of its groups, keywords and pages.',
  answer,
  content: 'The notes.',
  examples: {
    200: '/projects/Proj1/notes?from=2026-03-03',
    400: '/projects/Proj1/notes?from=2026-03-03&to=2026-03-02',
  },
  parameters,
  parse: (sent) => {
    const { from = null, to = null, clientVisible } = parameter.readParameters(parameters, sent);
    if (from !== null && to !== null && from > to) throw invalidRequest(`from (${from}) must not be after to (${to}).`);
    return { from, to, clientVisible };
  },
  plan: async ({ from, to, clientVisible }, { catalog, project }) => ({
    project,
    notes: await listNotes(catalog, { project: project.id, workspace: project.workspaceId, from, to, clientVisible }),
  }),
  run: ({ project, notes }) => ({
    project: projectReference(project),
    notes: notes.map(shownNote),
  }),
  rows: ({ project, notes }) => objects({ name: `${project.domain}-notes` }, notes, columnsOf(noteSchema)),
  version: wholeResult,
});

/** A note of a response. */
export function shownNote(note: Note) {
  return { ...note, createdAt: isoInstant(note.createdAt), updatedAt: isoInstant(note.updatedAt) };
}
