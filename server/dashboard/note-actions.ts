import { type TSchema, Type } from 'typebox';
import { findNote, NOTE_CATEGORIES, NOTE_SCOPES, type Note } from '../catalog/alerts.ts';
import { notFound } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { MEMBERS, requireAuthor } from '../operations/rights.ts';
import { oneOf } from '../presets/schemas.ts';
import { addNote, changeNote, noteVersion, removeNote } from '../projects/notes.ts';
import type { AddAction, Wanted } from './actions.ts';

const textOrNull = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const optional = {
  endDate: textOrNull,
  scope: Type.Optional(oneOf('NoteScope', NOTE_SCOPES)),
  groupId: textOrNull,
  keywordId: textOrNull,
  page: textOrNull,
  clientVisible: Type.Optional(Type.Boolean()),
};
const required = { date: Type.String(), category: oneOf('NoteCategory', NOTE_CATEGORIES), text: Type.String() };
const partial = <S extends TSchema>(schema: S) => Type.Optional(schema);

/** Notes of a project: members add them and change their own, owners and admins all. */
export function addNoteActions(add: AddAction, stores: Stores): void {
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/notes',
    roles: MEMBERS,
    status: 201,
    body: Type.Object({ ...required, ...optional }, { additionalProperties: false }),
    run: async ({ workspace, project, body, by, at, submission }) =>
      answerOf(await addNote(stores.catalog, { workspace, project: project!.id }, body, { by, at, submission })),
  });
  const find = async ({ workspace, project, ids }: Wanted): Promise<Note> => {
    const found = await findNote(stores.catalog, ids['note']!);
    const isOfProject = found?.owner.workspace === workspace && found.owner.project === project!.id;
    if (!isOfProject) throw notFound('The project has no such note.');
    return found!.note;
  };
  add({
    method: 'GET',
    url: '/projects/:id/notes/:note',
    roles: MEMBERS,
    find,
    run: ({ found }) => answerOf(found),
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/projects/:id/notes/:note',
    roles: MEMBERS,
    body: Type.Object(
      {
        date: partial(required.date),
        category: partial(required.category),
        text: partial(required.text),
        ...optional,
      },
      { additionalProperties: false },
    ),
    find,
    requireRight: ({ found, ...who }) => requireAuthor(who, found.author, 'notes'),
    run: async (call) => answerOf(await changeNote(stores.catalog, call.found.id, call.body, call)),
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/notes/:note',
    roles: MEMBERS,
    find,
    requireRight: ({ found, ...who }) => requireAuthor(who, found.author, 'notes'),
    run: (call) => removeNote(stores.catalog, call.found.id, call),
  });
}

const answerOf = (note: Note) => ({
  version: noteVersion(note),
  note: { ...note, createdAt: isoInstant(note.createdAt), updatedAt: isoInstant(note.updatedAt) },
});
