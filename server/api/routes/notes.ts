import { type Static, Type } from 'typebox';
import { NOTE_CATEGORIES, NOTE_SCOPES } from '../../catalog/events.ts';
import { documentJson } from '../../formats/json.ts';
import { notesReport } from '../../presets/notes.ts';
import { noteRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { day, instant, nullable, object, openWords, project, shortId, uuid } from '../schemas.ts';
import type { Route } from './route.ts';

export const keyword = object('NoteKeyword', { id: shortId, query: Type.String() });

export const note = object('Note', {
  id: uuid,
  scope: openWords(NOTE_SCOPES),
  date: day,
  endDate: nullable(day, 'Last day of a range note; null for a single day.'),
  category: openWords(NOTE_CATEGORIES),
  text: Type.String(),
  clientVisible: Type.Boolean({ description: 'Visible to clients in reports.' }),
  author: Type.String(),
  group: nullable(object('NoteGroup', { id: shortId, name: Type.String() })),
  keyword: nullable(keyword),
  page: nullable(Type.String()),
  createdAt: instant,
  updatedAt: instant,
});

const answer = object('NotesAnswer', { project, notes: Type.Array(note) });

export const notes: Route = {
  path: '/projects/:id/notes',
  report: notesReport,
  tag: 'Alerts and notes',
  summary: 'The notes that apply to a project',
  description: 'Oldest first: notes of the workspace, of the project, and of its groups, keywords and pages.',
  response: responses(answer, 'The notes.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/notes?from=2026-03-03',
    400: '/projects/Proj1/notes?from=2026-03-03&to=2026-03-02',
  },
  handle: answerWith(notesReport, { json: documentJson<Static<typeof answer>>, rows: noteRows, version: wholeResult }),
};
