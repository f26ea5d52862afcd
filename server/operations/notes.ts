import { Type } from 'typebox';
import { type FoundNote, findNote } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { defaultsOf, type Entity, WORDS, withTexts } from '../catalog/entities.ts';
import { rowOf } from '../catalog/entity-rows.ts';
import { findKeyword, groupExists } from '../catalog/keywords.ts';
import { type Day, parseDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import { editEntities } from '../load/entities.ts';
import { nullable, oneOf, sentFlags } from '../presets/schemas.ts';
import { adds, changes, type Noun, OF_PROJECT, type Place, reads, removes, type Scope } from './operation.ts';
import { MEMBERS, requireAuthor } from './rights.ts';

const MAX_TEXT = 5000;
const MAX_PAGE = 2000;

const isDay = (text: string): boolean => parseDay(text) !== undefined;
const notDay = (text: string | null): string => `must be a day such as 2026-03-01, not '${text?.slice(0, 40)}'`;

const date = Type.Refine(Type.String({ description: 'The day of the change.' }), isDay, notDay);
const endDate = Type.Refine(
  nullable(Type.String(), 'The last day of a range; null for a single day.'),
  (text) => text === null || isDay(text),
  notDay,
);
const text = Type.Refine(
  Type.String({ description: `What was changed, in 1 to ${MAX_TEXT} characters.` }),
  (text) => text.trim() !== '' && text.length <= MAX_TEXT,
  () => `must be a text of 1 to ${MAX_TEXT} characters`,
);
/** An empty one passes, so that `checkScope` can name the scope. Notes of snapshots may have other texts, and keep them. */
const page = Type.Refine(
  nullable(Type.String(), 'The address of a page, with scope page.'),
  (text) => !text || (text.length <= MAX_PAGE && /^https?:$/.test(URL.parse(text)?.protocol ?? '')),
  () => `must be an address such as https://shop.example/shoes, up to ${MAX_PAGE} characters`,
);
const required = { date, category: oneOf('NoteCategory', WORDS.noteCategory, 'The kind of change.'), text };
const optional = {
  endDate: Type.Optional(endDate),
  scope: Type.Optional(
    oneOf(
      'NoteScope',
      WORDS.noteScope,
      'What it is about; by default the project. Those of a workspace are added by command.',
    ),
  ),
  groupId: Type.Optional(nullable(Type.String(), 'The group, with scope group.')),
  keywordId: Type.Optional(nullable(Type.String(), 'The keyword, with scope keyword.')),
  page: Type.Optional(page),
  ...sentFlags('notes'),
};

/** A note as it is stored. */
type StoredNote = Entity<'notes'>;

interface NotePlace extends Place {
  /** Null for a note of the whole workspace. */
  readonly project: string | null;
}

/** Commands may name no project. */
const OF_OWNER: Scope<NotePlace> = {
  path: OF_PROJECT.path,
  find: async (catalog, target) =>
    target.project === undefined ? { workspace: target.workspace, project: null } : OF_PROJECT.find(catalog, target),
};

const NOTE: Noun<NotePlace, FoundNote> = {
  name: 'note',
  plural: 'notes',
  of: OF_OWNER,
  find: async (catalog, { workspace, project }, id) => {
    const found = await findNote(catalog, id);
    return found?.owner.workspace === workspace && found.owner.project === project ? found : undefined;
  },
  missing: 'The project has no such note.',
  requireRight: (actor, { note }) => requireAuthor(actor, note.author, 'notes'),
  edited: ({ note: { id: _id, author: _author, createdAt: _created, updatedAt: _updated, ...note } }) => ({
    ...note,
    ...{ group: note.group?.id, keyword: note.keyword?.id },
  }),
  show: ({ note }) => withTexts('notes', note),
  audited: ({ note: { id, date, text }, owner: { project } }) => ({
    subject: id,
    details: { project, date, text: text.slice(0, 200) },
  }),
};

export const noteAddition = adds(NOTE, {
  roles: MEMBERS,
  audit: 'note.created',
  fields: { ...required, ...optional },
  run: ({ tx, place: { workspace: workspaceId, project: projectId }, input, by, at }) =>
    write(tx, {
      ...defaultsOf('notes'),
      ...{ id: newUuid(), workspaceId, projectId, author: by, createdAt: at, updatedAt: at },
      scope: projectId === null ? 'workspace' : 'project',
      ...input,
    }),
});

export const noteRemoval = removes(NOTE, {
  roles: MEMBERS,
  audit: 'note.removed',
  gone: NOTE.missing,
  run: ({ tx, found }) => editEntities(tx, ({ remove }) => remove('notes', [rowOf('notes', storedOf(found))])),
});

/** Notes of a project: members add them and change their own, owners and admins all. */
export const NOTE_OPERATIONS = [
  reads(NOTE, MEMBERS),
  noteAddition,
  changes(NOTE, {
    roles: MEMBERS,
    audit: 'note.changed',
    fields: {
      date: Type.Optional(required.date),
      category: Type.Optional(required.category),
      text: Type.Optional(required.text),
      ...optional,
    },
    run: ({ tx, input, found, at }) => write(tx, { ...storedOf(found), ...input, updatedAt: at }),
  }),
  noteRemoval,
];

async function write(tx: Catalog, note: StoredNote): Promise<FoundNote> {
  checkDates(note);
  checkScope(note);
  await checkSubject(tx, note);
  await editEntities(tx, ({ put }) => put('notes', [rowOf('notes', note)]));
  const written = await findNote(tx, note.id);
  if (written === undefined) throw new Error(`The note '${note.id}' was not written.`);
  return written;
}

function storedOf({ note: { group, keyword, ...note }, owner: { workspace, project } }: FoundNote): StoredNote {
  return {
    ...note,
    ...{ workspaceId: workspace, projectId: project, groupId: group?.id ?? null, keywordId: keyword?.id ?? null },
  };
}

function checkDates({ date, endDate }: { readonly date: Day; readonly endDate: Day | null }): void {
  if (endDate !== null && endDate < date) throw invalidRequest(`'endDate' must not be before 'date' (${date}).`);
}

/** Throws unless a note names what it is about, and nothing else. */
function checkScope({ scope, projectId: project, ...note }: StoredNote): void {
  if ((scope === 'workspace') !== (project === null)) {
    throw invalidRequest(
      project === null
        ? "'scope' of a note without a project is workspace."
        : "'scope' workspace is for notes without a project.",
    );
  }
  for (const [of, name] of [
    ['group', 'groupId'],
    ['keyword', 'keywordId'],
    ['page', 'page'],
  ] as const) {
    const value = note[name];
    if (scope === of && (value === null || value === ''))
      throw invalidRequest(`'${name}' must be sent with scope ${of}.`);
    if (scope !== of && value !== null) throw invalidRequest(`'${name}' is for scope ${of}, not ${scope}.`);
  }
}

/** Throws if the group or keyword of a note is not one of its project. */
async function checkSubject(tx: Catalog, { projectId: project, groupId, keywordId }: StoredNote): Promise<void> {
  if (project === null) return;
  if (groupId !== null && !(await groupExists(tx, project, groupId)))
    throw invalidRequest("'groupId': the project has no such group.");
  if (keywordId !== null && (await findKeyword(tx, project, keywordId)) === undefined)
    throw invalidRequest("'keywordId': the project has no such keyword.");
}
