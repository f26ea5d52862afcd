import { type TSchema, Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { listNotes, type Note } from '../catalog/events.ts';
import { findKeyword, groupExists, listPageGroups, type PageGroup } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import type { TrackedKeywords } from '../catalog/tracked.ts';
import type { Day } from '../domain/dates.ts';
import { type KnownError, notFound } from '../domain/errors.ts';
import type { Group } from '../domain/groups.ts';
import type { Parameter } from './parameters.ts';

function id(of: string, pattern: string): Parameter<TSchema, string> {
  // Malformed ids are treated as unknown.
  return {
    schema: Type.String({ pattern, description: `Id of ${of}.` }),
    expected: `the id of ${of}`,
    decode: (text) => text,
  };
}

/** Parameters that name the subject of a change by its id. */
export const EFFECT_IDS = {
  note: id('a note, whose day and subject are used', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  pageGroup: id('a page group', '^[A-Za-z0-9]{5}$'),
  keyword: id('a tracked keyword', '^[A-Za-z0-9]{5}$'),
  group: id('a group or folder of keywords', '^[A-Za-z0-9]{5}$'),
};

export type SubjectQuery =
  | { readonly kind: 'page'; readonly pages: readonly string[] }
  | { readonly kind: 'note' | 'pageGroup' | 'keyword' | 'group'; readonly id: string };

/** What was changed, as far as the catalog knows it. */
export interface Subject {
  readonly scope: 'page' | 'pageGroup' | 'keyword' | 'group' | 'project' | 'workspace';
  readonly name: string;
  /** The note, and its day. */
  readonly note: Note | null;
  readonly date: Day | null;
  /** The table with its clicks; null if everything is its subject. */
  readonly table: 'page_daily' | 'keyword_daily' | null;
  readonly pages: readonly string[];
  /** Selects further pages. */
  readonly pageGroup: PageGroup | null;
  readonly keywords: readonly string[];
  /** Selects further keywords. */
  readonly group: Group | null;
  /** All notes that apply to the project. */
  readonly notes: readonly Note[];
}

type Ids = Readonly<Partial<Record<keyof typeof EFFECT_IDS, unknown>>>;

/** Throws `not_found` for the first unknown id. */
export async function requireIds(sent: unknown, project: Project, catalog: Catalog): Promise<void> {
  for (const kind of Object.keys(EFFECT_IDS) as (keyof Ids)[]) {
    const value = (sent as Ids)[kind];
    if (typeof value === 'string' && value !== '') await requireId(catalog, project, kind, value);
  }
}

async function requireId(catalog: Catalog, project: Project, kind: keyof Ids, value: string): Promise<void> {
  if (kind === 'note') noteOf(await allNotes(catalog, project), value);
  if (kind === 'pageGroup') await pageGroupOf(catalog, project, value);
  if (kind === 'group' && !(await groupExists(catalog, project.id, value))) throw unknown('group', value);
  if (kind === 'keyword' && (await findKeyword(catalog, project.id, value)) === undefined)
    throw unknown('keyword', value);
}

/** Finds the subject of a query. Throws `not_found`. */
export async function findSubject(
  catalog: Catalog,
  project: Project,
  tracked: TrackedKeywords,
  query: SubjectQuery,
): Promise<Subject> {
  const notes = await allNotes(catalog, project);
  const base = { notes, note: null, date: null, pages: [], pageGroup: null, keywords: [], group: null };
  const ofKeyword = (of: string): Subject => {
    const keyword = tracked.keywords.find((each) => each.id === of);
    if (keyword === undefined) throw unknown('keyword', of);
    return { ...base, scope: 'keyword', name: keyword.query, table: 'keyword_daily', keywords: [of] };
  };
  const ofGroup = (of: string): Subject => {
    const found = tracked.groups.find((each) => each.id === of);
    if (found === undefined) throw unknown('group', of);
    return { ...base, scope: 'group', name: found.name, table: 'keyword_daily', group: found };
  };
  const ofPages = (pages: readonly string[]): Subject => ({
    ...base,
    scope: 'page',
    name: pages.length === 1 ? pages[0]! : `${pages.length} pages`,
    table: 'page_daily',
    pages,
  });
  switch (query.kind) {
    case 'page':
      return ofPages(query.pages);
    case 'keyword':
      return ofKeyword(query.id);
    case 'group':
      return ofGroup(query.id);
    case 'pageGroup': {
      const found = await pageGroupOf(catalog, project, query.id);
      return { ...base, scope: 'pageGroup', name: found.name, table: 'page_daily', pageGroup: found };
    }
    case 'note': {
      const note = noteOf(notes, query.id);
      const of = { note, date: note.date };
      if (note.page !== null) return { ...ofPages([note.page]), ...of };
      if (note.keyword !== null) return { ...ofKeyword(note.keyword.id), ...of };
      if (note.group !== null) return { ...ofGroup(note.group.id), ...of };
      const scope = note.scope === 'workspace' ? 'workspace' : 'project';
      return { ...base, ...of, scope, name: project.domain, table: null };
    }
  }
}

function allNotes(catalog: Catalog, project: Project): Promise<Note[]> {
  const all = { from: null, to: null, clientVisible: false };
  return listNotes(catalog, { project: project.id, workspace: project.workspaceId, ...all });
}

function noteOf(notes: readonly Note[], of: string): Note {
  const note = notes.find((each) => each.id === of.toLowerCase());
  if (note === undefined) throw unknown('note', of);
  return note;
}

async function pageGroupOf(catalog: Catalog, project: Project, of: string) {
  const found = (await listPageGroups(catalog, project.id)).find((each) => each.id === of);
  if (found === undefined) throw unknown('page group', of);
  return found;
}

function unknown(what: string, id: string): KnownError {
  return notFound(`The project has no ${what} with the id '${id}'.`);
}
