import { listNotes, type Note } from '../catalog/events.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { day, flag, readParameters } from './parameters.ts';
import { type ProjectQuery, type ProjectReport, projectReference, queryAbout } from './report.ts';

const parameters = {
  from: day('Only notes that end on or after this day.'),
  to: day('Only notes that start on or before this day.'),
  clientVisible: flag('True for client-visible notes only; false for all notes.'),
};

interface NotesQuery extends ProjectQuery {
  readonly from: Day | null;
  readonly to: Day | null;
  readonly clientVisible: boolean;
}

interface NotesPlan {
  readonly project: Project;
  readonly notes: readonly Note[];
}

interface NotesResult {
  readonly project: { readonly id: string; readonly domain: string };
  readonly notes: (Omit<Note, 'createdAt' | 'updatedAt'> & { createdAt: string; updatedAt: string })[];
}

/** The notes that apply to a project, oldest first. */
export const notesReport: ProjectReport<NotesQuery, NotesPlan, NotesResult> = {
  operation: 'listNotes',
  parameters,
  needs: 'project',
  parse: (sent, project) => {
    const { from = null, to = null, clientVisible } = readParameters(parameters, sent);
    if (from !== null && to !== null && from > to) throw invalidRequest(`from (${from}) must not be after to (${to}).`);
    return { ...queryAbout('listNotes', project), from, to, clientVisible };
  },
  plan: ({ project: id, workspace, from, to, clientVisible }, { catalog, project }) => ({
    project,
    notes: listNotes(catalog, { project: id, workspace, from, to, clientVisible }),
  }),
  run: ({ project, notes }) => ({
    project: projectReference(project),
    notes: notes.map((note) => ({
      ...note,
      createdAt: isoInstant(note.createdAt),
      updatedAt: isoInstant(note.updatedAt),
    })),
  }),
};
