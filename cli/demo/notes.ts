import type { Calendar } from './calendar.ts';
import { groupId } from './groups.ts';
import { uuid } from './ids.ts';
import type { Keyword } from './keywords.ts';
import type { History, NotePlan, Site } from './site.ts';

const WORKSPACE_NOTES: readonly NotePlan[] = [
  {
    ago: 360,
    category: 'other',
    text: 'Reports are sent on the first Monday of a month from now on.',
    author: 'Web team',
  },
  {
    ago: 192,
    until: 178,
    category: 'other',
    text: 'A core update of the search engine was rolled out.',
    author: 'Web team',
    shown: true,
  },
  { ago: 70, category: 'technical', text: 'Both sites use the new consent banner.', author: 'Web team' },
];

/** The rows of the table `notes` about the whole workspace. */
export function workspaceNoteRows(workspace: string, calendar: Calendar): object[] {
  return WORKSPACE_NOTES.map((note) => ({
    ...commonColumns(note, calendar),
    id: uuid(`${workspace} note ${note.text}`),
    workspace_id: workspace,
    project_id: null,
    scope: 'workspace',
  }));
}

/** The rows of the table `notes` about a site, its groups, keywords and pages. */
export function noteRows(
  workspace: string,
  site: Site,
  history: History,
  keywords: readonly Keyword[],
  calendar: Calendar,
): object[] {
  return history.notes.map((note) => ({
    ...commonColumns(note, calendar),
    id: uuid(`${site.projectId} note ${note.text}`),
    workspace_id: workspace,
    project_id: site.projectId,
    scope: note.group ? 'group' : note.query ? 'keyword' : note.page ? 'page' : 'project',
    group_id: note.group ? groupId(site, note.group) : null,
    keyword_id: keywords.find((keyword) => keyword.query === note.query)?.id ?? null,
    page: note.page ? site.origin + note.page : null,
  }));
}

function commonColumns(note: NotePlan, calendar: Calendar) {
  const written = note.until ?? note.ago;
  return {
    date: calendar.ago(note.ago),
    end_date: note.until === undefined ? null : calendar.ago(note.until),
    category: note.category,
    text: note.text,
    client_visible: note.shown ?? false,
    author: note.author,
    group_id: null as string | null,
    keyword_id: null as string | null,
    page: null as string | null,
    created_at: calendar.morningAfter(note.ago, 290),
    // The end of a range was added later, when it was known.
    updated_at: calendar.morningAfter(written, 295),
  };
}
