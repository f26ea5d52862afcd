import { Type } from 'typebox';
import { listNotes } from '../catalog/events.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { projectReference, readProject } from '../http/guard.ts';
import { day as dayParameter, flag, readParameters } from '../http/parameters.ts';
import { day, instant, nullable, object, oneOf, project, responses, shortId, uuid } from '../http/schemas.ts';
import type { Route } from './route.ts';

const note = object({
  id: uuid,
  scope: oneOf(['workspace', 'project', 'group', 'keyword', 'page']),
  date: day,
  endDate: nullable(day, 'Last day of a range note; null for a single day.'),
  category: oneOf(['launch', 'content', 'technical', 'migration', 'campaign', 'other']),
  text: Type.String(),
  clientVisible: Type.Boolean({ description: 'Visible to clients in reports.' }),
  author: Type.String(),
  group: nullable(object({ id: shortId, name: Type.String() })),
  keyword: nullable(object({ id: shortId, query: Type.String() })),
  page: nullable(Type.String()),
  createdAt: instant,
  updatedAt: instant,
});

const answer = object({ project, notes: Type.Array(note) });

const parameters = {
  from: dayParameter('Only notes that end on or after this day.'),
  to: dayParameter('Only notes that start on or before this day.'),
  clientVisible: flag('True for client-visible notes only; false for all notes.'),
};

export const notes: Route<typeof answer> = {
  path: '/projects/:id/notes',
  operation: 'listNotes',
  tag: 'Alerts and notes',
  summary: 'The notes that apply to a project',
  description: 'Oldest first: notes of the workspace, of the project, and of its groups, keywords and pages.',
  parameters,
  response: responses(answer, 'The notes.', ['invalid_request', 'not_found']),
  handle:
    ({ catalog }) =>
    (request) => {
      const read = readProject(catalog, request, ({ id, workspaceId }) => {
        const { from = null, to = null, clientVisible } = readParameters(parameters, request.query);
        if (from !== null && to !== null && from > to) {
          throw invalidRequest(`from (${from}) must not be after to (${to}).`);
        }
        return { notes: listNotes(catalog, { project: id, workspace: workspaceId, from, to, clientVisible }) };
      });
      return {
        project: projectReference(read.project),
        notes: read.notes.map((found) => ({
          ...found,
          createdAt: isoInstant(found.createdAt),
          updatedAt: isoInstant(found.updatedAt),
        })),
      };
    },
};
