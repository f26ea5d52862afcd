import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

export interface Alert {
  readonly id: string;
  readonly type: string;
  readonly kind: string;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly title: string;
  readonly body: string;
  readonly date: Day | null;
  readonly keywordId: string | null;
  readonly url: string | null;
  readonly createdAt: Microseconds;
  readonly resolvedAt: Microseconds | null;
}

export const NOTE_CATEGORIES = ['launch', 'content', 'technical', 'migration', 'campaign', 'other'] as const;
export const NOTE_SCOPES = ['workspace', 'project', 'group', 'keyword', 'page'] as const;

export interface Note {
  readonly id: string;
  readonly scope: (typeof NOTE_SCOPES)[number];
  readonly date: Day;
  readonly endDate: Day | null;
  readonly category: (typeof NOTE_CATEGORIES)[number];
  readonly text: string;
  readonly clientVisible: boolean;
  readonly author: string;
  readonly group: { readonly id: string; readonly name: string } | null;
  readonly keyword: { readonly id: string; readonly query: string } | null;
  readonly page: string | null;
  readonly createdAt: Microseconds;
  readonly updatedAt: Microseconds;
}

export type AlertStatus = 'open' | 'resolved' | 'all';

/** The newest alerts of a project since an instant; null returns all. `siteOnly`: those whose texts have no query. */
export async function listAlerts(
  catalog: Catalog,
  query: { project: string; status: AlertStatus; since: Microseconds; limit: number | null; siteOnly?: boolean },
): Promise<Alert[]> {
  return catalog.statements.all<Alert>('alerts.of_project', {
    ...query,
    limit: query.limit ?? Number.MAX_SAFE_INTEGER,
    siteOnly: query.siteOnly === true ? 1 : 0,
  });
}

export async function countAlerts(catalog: Catalog, project: string): Promise<{ open: number; resolved: number }> {
  return (await catalog.statements.get<{ open: number; resolved: number }>('alerts.counts', { project }))!;
}

interface NoteRow extends Omit<Note, 'clientVisible' | 'group' | 'keyword'> {
  readonly clientVisible: number;
  readonly groupId: string | null;
  readonly groupName: string | null;
  readonly keywordId: string | null;
  readonly keywordQuery: string | null;
}

/** Notes that apply to a project and overlap `from` to `to`, oldest first. */
export async function listNotes(
  catalog: Catalog,
  query: { project: string; workspace: string; from: Day | null; to: Day | null; clientVisible: boolean },
): Promise<Note[]> {
  const values = { ...query, clientVisible: query.clientVisible ? 1 : 0 };
  return (await catalog.statements.all<NoteRow>('notes.of_project', values)).map(toNote);
}

/** The notes of a workspace without a project, oldest first. */
export async function listWorkspaceNotes(catalog: Catalog, workspace: string): Promise<Note[]> {
  return (await catalog.statements.all<NoteRow>('notes.of_workspace', { workspace })).map(toNote);
}

/** Where a note belongs; without a project it is one of the workspace. */
export interface NoteOwner {
  readonly workspace: string;
  readonly project: string | null;
}

/** A note and its owner; undefined if there is none. */
export async function findNote(catalog: Catalog, id: string): Promise<{ note: Note; owner: NoteOwner } | undefined> {
  const row = await catalog.statements.get<NoteRow & NoteOwner>('notes.one', { id });
  if (row === undefined) return undefined;
  const { workspace, project, ...note } = row;
  return { note: toNote(note), owner: { workspace, project } };
}

function toNote({ groupId, groupName, keywordId, keywordQuery, ...note }: NoteRow): Note {
  return {
    ...note,
    clientVisible: note.clientVisible === 1,
    group: groupId !== null && groupName !== null ? { id: groupId, name: groupName } : null,
    keyword: keywordId !== null && keywordQuery !== null ? { id: keywordId, query: keywordQuery } : null,
  };
}
