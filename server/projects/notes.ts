import { findNote, NOTE_CATEGORIES, type Note, type NoteOwner } from '../catalog/alerts.ts';
import { type AuditAction, recordAudit, type Submission } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { findKeyword, groupExists } from '../catalog/keywords.ts';
import { parseDay } from '../domain/dates.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { changeEntities, createEntities, type EntityEdit, entityRow } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';

const MAX_TEXT = 5000;
const MAX_PAGE = 2000;

/** What a member writes. Left out of a change, a field stays the same. */
export interface NoteFields {
  readonly date?: string;
  /** Last day of a range; null for a single day. */
  readonly endDate?: string | null;
  readonly category?: Note['category'];
  readonly text?: string;
  readonly scope?: Note['scope'];
  readonly groupId?: string | null;
  readonly keywordId?: string | null;
  readonly page?: string | null;
  readonly clientVisible?: boolean;
}

/** Who writes, when. */
export interface Writer {
  /** The author of new notes and the actor of the audit trail. */
  readonly by: string;
  readonly at: Microseconds;
}

/** Who creates something; `submission` is the form of a member. */
export interface Creator extends Writer {
  readonly submission?: Submission;
}

/** Who changes something; `version` is what a member has read, see `requireVersion`. */
export interface Editor extends Writer {
  readonly version?: string;
}

/** Identifies what members edit of a note. */
export function noteVersion({
  date,
  endDate,
  category,
  text,
  scope,
  group,
  keyword,
  page,
  clientVisible,
}: Note): string {
  const subject = { scope, group: group?.id, keyword: keyword?.id, page };
  return versionOf({ date, endDate, category, text, clientVisible, ...subject });
}

/** Adds a note. Throws `invalid_request` with the name of the wrong field. */
export function addNote(
  catalog: Catalog,
  { workspace, project }: NoteOwner,
  fields: NoteFields,
  { by, at, submission }: Creator,
): Promise<Note> {
  const row: Row = {
    id: newUuid(),
    workspace_id: workspace,
    project_id: project,
    scope: project === null ? 'workspace' : 'project',
    date: null,
    end_date: null,
    category: null,
    text: null,
    client_visible: 0,
    author: by,
    group_id: null,
    keyword_id: null,
    page: null,
    created_at: at,
    updated_at: at,
  };
  return createEntities(catalog, submission, (change) =>
    write(change, row, fields, { action: 'note.created', by, at }),
  );
}

/** Changes a note. Throws `not_found`, `outdated`, and what `addNote` throws. */
export async function changeNote(
  catalog: Catalog,
  id: string,
  fields: NoteFields,
  { by, at, version }: Editor,
): Promise<Note> {
  return changeEntities(catalog, async (change) => {
    const row = await requireNote(change.tx, id);
    requireVersion(noteVersion((await findNote(change.tx, id))!.note), version);
    return write(change, row, fields, { action: 'note.changed', by, at });
  });
}

/** Removes a note. Throws `not_found`. */
export function removeNote(catalog: Catalog, id: string, { by, at }: Writer): Promise<void> {
  return changeEntities(catalog, async ({ tx, remove }) => {
    const row = await requireNote(tx, id);
    await remove('notes', [row]);
    await audit(tx, row, { action: 'note.removed', by, at });
  });
}

async function write(
  { tx, put }: EntityEdit,
  before: Row,
  fields: NoteFields,
  audited: Writer & { readonly action: AuditAction },
): Promise<Note> {
  const row: Row = { ...before, ...columnsOf(fields), updated_at: audited.at };
  checkNote(row);
  if (fields.page) checkPage(fields.page);
  await checkSubject(tx, row);
  await put('notes', [row]);
  await audit(tx, row, audited);
  return (await findNote(tx, row['id'] as string))!.note;
}

async function requireNote(tx: Catalog, id: string): Promise<Row> {
  const row = await entityRow(tx, 'notes', id);
  if (row === undefined) throw notFound(`There is no note '${id.slice(0, 40)}'.`);
  return row;
}

async function audit(
  tx: Catalog,
  row: Row,
  { action, by, at }: Writer & { readonly action: AuditAction },
): Promise<void> {
  const details = { project: row['project_id'], date: row['date'], text: String(row['text']).slice(0, 200) };
  const workspace = row['workspace_id'] as string;
  await recordAudit(tx, { at, workspace, actor: by, action, subject: row['id'] as string, details });
}

function columnsOf({ endDate, clientVisible, groupId, keywordId, ...same }: NoteFields): Row {
  const columns = {
    ...same,
    end_date: endDate,
    client_visible: clientVisible === undefined ? undefined : Number(clientVisible),
    group_id: groupId,
    keyword_id: keywordId,
  };
  return Object.fromEntries(
    Object.entries(columns).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Throws for values that a note may not have. */
function checkNote({ date, end_date: endDate, category, text, scope, project_id: project, ...row }: Row): void {
  for (const [name, day] of [
    ['date', date],
    ['endDate', endDate],
  ] as const) {
    if (day !== null && parseDay(String(day)) === undefined) {
      throw invalidRequest(`'${name}' must be a day such as 2026-03-01, not '${String(day).slice(0, 40)}'.`);
    }
  }
  if (date === null) throw invalidRequest("'date' must be a day such as 2026-03-01.");
  if (endDate !== null && endDate! < date!)
    throw invalidRequest(`'endDate' must not be before 'date' (${String(date)}).`);
  if (!NOTE_CATEGORIES.includes(category as Note['category'])) {
    throw invalidRequest(`'category' must be one of ${NOTE_CATEGORIES.join(', ')}.`);
  }
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_TEXT) {
    throw invalidRequest(`'text' must be a text of 1 to ${MAX_TEXT} characters.`);
  }
  if ((scope === 'workspace') !== (project === null)) {
    throw invalidRequest(
      project === null
        ? "'scope' of a note without a project is workspace."
        : "'scope' workspace is for notes without a project.",
    );
  }
  for (const [of, name, value] of [
    ['group', 'groupId', row['group_id']],
    ['keyword', 'keywordId', row['keyword_id']],
    ['page', 'page', row['page']],
  ] as const) {
    if (scope === of && (value === null || value === ''))
      throw invalidRequest(`'${name}' must be sent with scope ${of}.`);
    if (scope !== of && value !== null) throw invalidRequest(`'${name}' is for scope ${of}, not ${String(scope)}.`);
  }
}

/** Notes of snapshots may have other texts, and keep them. */
function checkPage(page: string): void {
  if (page.length <= MAX_PAGE && /^https?:$/.test(URL.parse(page)?.protocol ?? '')) return;
  throw invalidRequest(`'page' must be an address such as https://shop.example/shoes, up to ${MAX_PAGE} characters.`);
}

/** Throws if the group or keyword of a note is not one of its project. */
async function checkSubject(
  tx: Catalog,
  { project_id: project, group_id: group, keyword_id: keyword }: Row,
): Promise<void> {
  const of = project as string;
  const refuse = (name: string, what: string): never => {
    throw invalidRequest(`'${name}': the project has no such ${what}.`);
  };
  if (typeof group === 'string' && !(await groupExists(tx, of, group))) refuse('groupId', 'group');
  if (typeof keyword === 'string' && (await findKeyword(tx, of, keyword)) === undefined) {
    refuse('keywordId', 'keyword');
  }
}
