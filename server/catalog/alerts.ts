import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AlertRule } from '../domain/alert-rules.ts';
import { type Day, earlier } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { type RankingRecord, type RankingUpdate, rankingRecord } from '../domain/ranking-updates.ts';
import type { Catalog, Values } from './catalog.ts';
import type { Entity } from './entities.ts';
import { entityOf, withoutProject } from './entity-rows.ts';
import { raiseRevisionsOfReported } from './fact-files.ts';

export type Alert = Omit<Entity<'alerts'>, 'projectId'>;

/** A note with what it is about. */
export interface Note extends Omit<Entity<'notes'>, 'workspaceId' | 'projectId' | 'groupId' | 'keywordId'> {
  readonly group: { readonly id: string; readonly name: string } | null;
  readonly keyword: { readonly id: string; readonly query: string } | null;
}

export type AlertStatus = 'open' | 'resolved' | 'all';

/** The newest alerts of a project since an instant; null returns all. `siteOnly`: those whose texts have no query. */
export async function listAlerts(
  catalog: Catalog,
  query: { project: string; status: AlertStatus; since: Microseconds; limit: number | null; siteOnly?: boolean },
): Promise<Alert[]> {
  const rows = await catalog.statements.all<Values>('alerts.of_project', {
    ...query,
    limit: query.limit ?? Number.MAX_SAFE_INTEGER,
    siteOnly: query.siteOnly === true ? 1 : 0,
  });
  return rows.map((row) => withoutProject(entityOf('alerts', row)));
}

export async function countAlerts(catalog: Catalog, project: string): Promise<{ open: number; resolved: number }> {
  return (await catalog.statements.get<{ open: number; resolved: number }>('alerts.counts', { project }))!;
}

/** A row of `{notes_fields}`. */
interface NoteRow extends Values {
  readonly groupName: string | null;
  readonly keywordQuery: string | null;
}

/** Notes that apply to a project and overlap `from` to `to`, oldest first. */
export async function listNotes(
  catalog: Catalog,
  query: { project: string; workspace: string; from: Day | null; to: Day | null; clientVisible: boolean },
): Promise<Note[]> {
  const values = { ...query, clientVisible: query.clientVisible ? 1 : 0 };
  return (await catalog.statements.all<NoteRow>('notes.of_project', values)).map((row) => toNote(row).note);
}

/** The notes of a workspace without a project, oldest first. */
export async function listWorkspaceNotes(catalog: Catalog, workspace: string): Promise<Note[]> {
  return (await catalog.statements.all<NoteRow>('notes.of_workspace', { workspace })).map((row) => toNote(row).note);
}

/** Where a note belongs; without a project it is one of the workspace. */
export interface NoteOwner {
  readonly workspace: string;
  readonly project: string | null;
}

export interface FoundNote {
  readonly note: Note;
  readonly owner: NoteOwner;
}

/** A note and its owner; undefined if there is none. */
export async function findNote(catalog: Catalog, id: string): Promise<FoundNote | undefined> {
  const row = await catalog.statements.get<NoteRow>('notes.one', { id });
  return row && toNote(row);
}

function toNote(row: NoteRow): FoundNote {
  const { workspaceId: workspace, projectId: project, groupId, keywordId, ...fields } = entityOf('notes', row);
  const { groupName, keywordQuery } = row;
  const note = {
    ...fields,
    group: groupId !== null && groupName !== null ? { id: groupId, name: groupName } : null,
    keyword: keywordId !== null && keywordQuery !== null ? { id: keywordId, query: keywordQuery } : null,
  };
  return { note, owner: { workspace, project } };
}

/** A user-defined rule of a project. */
export type StoredRule = Entity<'alert_rules'>;

/** The rules of a project, or of all projects, by name. */
export async function listAlertRules(catalog: Catalog, project: string | null): Promise<StoredRule[]> {
  const rows = await catalog.statements.all<Values>('alert-rules.of_project', { project });
  return rows.map((row) => entityOf('alert_rules', row));
}

export async function findAlertRule(catalog: Catalog, id: string): Promise<StoredRule | undefined> {
  const row = await catalog.statements.get<Values>('alert-rules.one', { id });
  return row && entityOf('alert_rules', row);
}

/** Whether the subject of a rule exists in its project. */
export async function ruleSubjectExists(catalog: Catalog, project: string, { scope, id }: AlertRule): Promise<boolean> {
  if (id === undefined) return true;
  return (await catalog.statements.get('alert-rules.subject', { project, scope, id })) !== undefined;
}

/** The state of the alert evaluation of a project. */
export interface StoredEvaluation {
  /** A replay starts on the next day. */
  readonly settledThrough: Day;
  readonly evaluatedThrough: Day;
  /** JSON: the state after the settled days. */
  readonly state: string;
  /** JSON: the first evaluated day of each rule. */
  readonly rules: string;
  /** The revisions of the facts and entities that were read. */
  readonly factsRevision: number;
  readonly entitiesRevision: number;
}

/** An alert created by an evaluation. */
export interface StoredAlert extends Alert {
  readonly date: Day;
  /** At most one alert per type and subject is open. */
  readonly subject: string;
  /** The user setting when the alert opened. */
  readonly basis: string;
}

export async function findEvaluation(catalog: Catalog, project: string): Promise<StoredEvaluation | undefined> {
  return catalog.statements.get('alerts.evaluation', { project });
}

export async function putEvaluation(
  tx: Catalog,
  project: string,
  evaluation: StoredEvaluation,
  at: Microseconds,
): Promise<void> {
  const { settledThrough, evaluatedThrough, state, rules, factsRevision, entitiesRevision } = evaluation;
  const values = { settledThrough, evaluatedThrough, state, rules, factsRevision, entitiesRevision };
  await tx.statements.run('alerts.put_evaluation', { project, ...values, at });
}

/** Projects whose facts or entities have changed since they were evaluated. */
export async function listProjectsToEvaluate(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ id: string }>('alerts.due');
  return rows.map(({ id }) => id);
}

export async function listEvaluatedAlerts(catalog: Catalog, project: string): Promise<StoredAlert[]> {
  return catalog.statements.all('alerts.evaluated', { project });
}

export async function putEvaluatedAlert(tx: Catalog, project: string, alert: StoredAlert): Promise<void> {
  const { id, type, subject, basis, kind, severity, title, body, date, keywordId, url, createdAt, resolvedAt } = alert;
  const values = { id, type, subject, basis, kind, severity, title, body, date, keywordId, url, createdAt, resolvedAt };
  await tx.statements.run('alerts.put', { project, ...values });
}

export async function removeEvaluatedAlert(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('alerts.remove', { id });
}

export async function readKeywordTargets(catalog: Catalog, project: string): Promise<Map<string, string>> {
  const rows = await catalog.statements.all<{ id: string; url: string }>('keywords.targets', { project });
  return new Map(rows.map(({ id, url }) => [id, url]));
}

/** Whether days of a table are complete, for the days known to the sync. */
export type SyncedDays = ReadonlyMap<Day, boolean>;

/** By the tables that alerts are evaluated from. */
export type SyncedTables = Readonly<
  Record<'site_daily' | 'keyword_daily' | 'keyword_page_daily' | 'page_daily', SyncedDays>
>;

/** The completeness of the days of a range according to the sync, by table. */
export async function readSyncedDays(catalog: Catalog, project: string, { from, to }: Range): Promise<SyncedTables> {
  type Row = { table: string; day: Day; isComplete: number };
  const rows = await catalog.statements.all<Row>('alerts.synced_days', { project, from, to });
  const daysOf = (table: string): SyncedDays =>
    new Map(rows.filter((row) => row.table === table).map(({ day, isComplete }) => [day, isComplete === 1]));
  return {
    site_daily: daysOf('site_daily'),
    keyword_daily: daysOf('keyword_daily'),
    keyword_page_daily: daysOf('keyword_page_daily'),
    page_daily: daysOf('page_daily'),
  };
}

/** A finding that an owner or admin has dismissed, with what was found then. */
export interface DismissedFinding {
  readonly id: string;
  readonly type: string;
  readonly kind: 'page' | 'query';
  /** The page or query. */
  readonly row: string;
  /** Null for all countries. */
  readonly country: string | null;
  /** How many days the range had, and the last of them. */
  readonly days: number;
  readonly through: Day;
  /** Clicks, all null for a finding without a gain. */
  readonly clicks: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** The pages over which a query was split, sorted; null for other types. */
  readonly pages: readonly string[] | null;
  readonly author: string;
  readonly at: Microseconds;
}

/** Dismissed findings of one project. */
const MAX_DISMISSED = 2000;

type DismissedRow = Omit<DismissedFinding, 'pages'> & { readonly pages: string | null };

/** The dismissed findings of a project, the newest first. */
export async function listDismissedFindings(catalog: Catalog, project: string): Promise<DismissedFinding[]> {
  return (await catalog.statements.all<DismissedRow>('dismissed-findings.of_project', { project, id: null })).map(
    ofRow,
  );
}

export async function findDismissedFinding(
  catalog: Catalog,
  project: string,
  id: string,
): Promise<DismissedFinding | undefined> {
  const row = await catalog.statements.get<DismissedRow>('dismissed-findings.of_project', { project, id });
  return row && ofRow(row);
}

/** Dismisses a finding; one that is dismissed already takes these numbers. Throws `conflict` where there are too many. */
export async function dismissFinding(
  tx: Catalog,
  project: string,
  finding: Omit<DismissedFinding, 'id' | 'author' | 'at'>,
  { by: author, at }: { readonly by: string; readonly at: Microseconds },
): Promise<DismissedFinding> {
  const { type, kind, row, country } = finding;
  const id = hash('sha256', JSON.stringify([project, type, kind, row, country]), 'hex').slice(0, 32);
  const dismissed = { ...finding, id, author, at };
  const known = await listDismissedFindings(tx, project);
  if (known.length >= MAX_DISMISSED && !known.some((one) => one.id === id)) {
    throw new KnownError('conflict', `A project has at most ${MAX_DISMISSED} dismissed findings; restore some.`);
  }
  const pages = finding.pages && JSON.stringify(finding.pages);
  await tx.statements.run('dismissed-findings.put', { ...dismissed, project, pages });
  return dismissed;
}

/** Lists a finding again. */
export async function restoreFinding(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('dismissed-findings.remove', { id });
}

function ofRow({ pages, ...row }: DismissedRow): DismissedFinding {
  return { ...row, pages: pages === null ? null : (JSON.parse(pages) as string[]) };
}

/** A ranking update with its id in the feed. */
export interface ReadRankingUpdate extends RankingUpdate {
  readonly id: string;
}

/** All known ranking updates. */
export async function readRankingRecord(catalog: Catalog): Promise<RankingRecord> {
  const stored = await listStored(catalog);
  return rankingRecord(
    stored.map(({ title, from, to, source }) => ({ title, from, to, source })),
    await readRankingFeedThrough(catalog),
  );
}

/** The last day that the feed was complete for when it was read last; null if it never was. */
export async function readRankingFeedThrough(catalog: Catalog): Promise<Day | null> {
  return (await catalog.statements.get<{ through: Day }>('ranking-updates.feed'))?.through ?? null;
}

function listStored(catalog: Catalog): Promise<ReadRankingUpdate[]> {
  return catalog.statements.all<ReadRankingUpdate>('ranking-updates.all');
}

/**
 * Stores what the feed says now, and invalidates the answers that it changes. Updates before the oldest one in the feed stay:
 * it may have dropped them for their age.
 * @param through the last day that the feed is complete for
 */
export async function storeRankingFeed(
  catalog: Catalog,
  updates: readonly ReadRankingUpdate[],
  through: Day,
): Promise<{ readonly changed: number }> {
  return catalog.transaction(async (tx) => {
    const stored = new Map((await listStored(tx)).map((update) => [update.id, update]));
    const read = new Set(updates.map(({ id }) => id));
    const oldest = updates.map(({ from }) => from).reduce(earlier, '9999-12-31');
    const changed = updates.filter((update) => !isDeepStrictEqual({ ...stored.get(update.id) }, { ...update }));
    const removed = [...stored.values()].filter(({ id, from }) => !read.has(id) && from >= oldest);
    for (const update of changed) await tx.statements.run('ranking-updates.put', { ...update });
    for (const { id } of removed) await tx.statements.run('ranking-updates.remove', { id });
    const { completeThrough: before } = await readRankingRecord(tx);
    await tx.statements.run('ranking-updates.put_feed', { through });
    const { completeThrough } = await readRankingRecord(tx);
    const count = changed.length + removed.length;
    // Answers name the day that the record is complete for, up to the last one that was reported.
    if (count > 0) await raiseRevisionsOfReported(tx, { after: null });
    else if (completeThrough !== before)
      await raiseRevisionsOfReported(tx, { after: earlier(before, completeThrough) });
    return { changed: count };
  });
}
