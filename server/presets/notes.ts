import { listNotes, type Note } from '../catalog/events.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { day, flag, formatParameters, readParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = {
  from: day('Only notes that end on or after this day.'),
  to: day('Only notes that start on or before this day.'),
  clientVisible: flag('True for client-visible notes only; false for all notes.'),
  ...formatParameters,
};

/** The notes that apply to a project, oldest first. */
export const notesReport = projectReport({
  operation: 'listNotes',
  parameters,
  parse: (sent) => {
    const { from = null, to = null, clientVisible } = readParameters(parameters, sent);
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
});

/** A note of a response. */
export function shownNote(note: Note) {
  return { ...note, createdAt: isoInstant(note.createdAt), updatedAt: isoInstant(note.updatedAt) };
}

export type NotesResult = Awaited<ReturnType<typeof notesReport.run>>;
