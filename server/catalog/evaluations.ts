import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Catalog } from './catalog.ts';
import type { Alert } from './events.ts';

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
