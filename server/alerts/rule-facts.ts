import type { StoredRule } from '../catalog/alert-rules.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { readSyncedDays, type SyncedDays, type SyncedTables } from '../catalog/evaluations.ts';
import { filesOf } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays } from '../domain/dates.ts';
import { type Group, pagesOf } from '../domain/groups.ts';
import type { Range } from '../domain/range.ts';
import { daySums, undividedDays } from '../facts/days.ts';
import type { DayMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import type { StoredTable } from '../model/tables.ts';
import { groupMembers, planTotals, readTotals, type TotalsPlan } from '../query/tracked.ts';
import { inTurns } from '../runtime/turns.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { DailySums, StoredDays } from './daily-sums.ts';
import type { AlertProject } from './project-state.ts';
import { dailySums, daysOf, storedDays } from './read-facts.ts';

/** The files that rules are evaluated from. */
export interface RuleFiles {
  readonly range: Range;
  readonly site: readonly StoredFile[];
  readonly keywords: readonly StoredFile[];
  readonly pages: readonly StoredFile[];
  readonly synced: SyncedTables;
  /** The totals of keywords through the last day, for groups by rule, and the days on which keywords are unknown. */
  readonly totals: TotalsPlan;
}

/** The subject of a rule: its name in texts, and its daily sums. */
export interface RuleSubject {
  readonly about: string;
  readonly sums: DailySums;
}

/** Days over which groups by rule select their members: the default range of the API. */
const MEMBERS_RANGE = 28;

export async function readRuleFiles(snapshot: Catalog, project: Project, range: Range): Promise<RuleFiles> {
  const files = (table: StoredTable): Promise<StoredFile[]> => filesOf(snapshot, project.id, table, range);
  return {
    range,
    site: await files('site_daily'),
    keywords: await files('keyword_all'),
    pages: await files('page_daily'),
    synced: await readSyncedDays(snapshot, project.id, range),
    totals: await planTotals(snapshot, project, range),
  };
}

/** Reads the daily sums of the subject of a rule; undefined if it no longer exists. */
export async function readRuleSubject(
  facts: Facts,
  state: AlertProject,
  files: RuleFiles,
  { rule: { scope, id } }: Pick<StoredRule, 'rule'>,
  signal: AbortSignal,
): Promise<RuleSubject | undefined> {
  const { range, synced, totals } = files;
  const queryOf = (table: 'site' | 'keywords' | 'pages'): FactsQuery => ({ files: files[table], range, signal });
  const site = await facts.siteDays(queryOf('site'), 'all');
  const published = site.map(({ date }) => date);
  const undivided = undividedDays(await facts.siteDevices(queryOf('site')));
  const subject = (about: string, rows: readonly DayMeasures[], stored: StoredDays): RuleSubject => {
    return { about, sums: dailySums(range, rows, stored) };
  };
  const stored = async (query: FactsQuery, known: SyncedDays, unknown: readonly Range[] = []): Promise<StoredDays> =>
    storedDays(range, published, await facts.storedDays(query), known, undivided, unknown);
  if (scope === 'site') return subject('the site', site, daysOf(range, new Set(published), synced.site_daily));
  if (scope === 'page_group') {
    const group = state.pageGroups.find((each) => each.id === id);
    if (group === undefined) return undefined;
    const query = queryOf('pages');
    const urls = await inTurns(pagesOf(group, await facts.pageUrls(query)), signal);
    return subject(
      `page group "${group.name}"`,
      await daySums(facts, query, { table: 'page_daily', test: rowsWith('url', urls) }),
      await stored(query, synced.page_daily),
    );
  }
  const query = queryOf('keywords');
  const days = (ids: readonly string[]): Promise<StoredDays> =>
    stored(
      query,
      synced.keyword_daily,
      ids.flatMap((member) => totals.gaps.get(member) ?? []),
    );
  const sumsOf = (ids: readonly string[]): Promise<DayMeasures[]> =>
    daySums(facts, query, { table: 'keyword_all', test: rowsWith('keyword_id', ids) });
  if (scope === 'keyword') {
    const keyword = state.keywords.find((each) => each.id === id);
    return keyword && subject(`"${keyword.query}"`, await sumsOf([keyword.id]), await days([keyword.id]));
  }
  const group = state.tracked.groups.find((each) => each.id === id);
  if (group === undefined) return undefined;
  const members = await currentMembers(facts, state, files, group, signal);
  return subject(`group "${group.name}"`, await sumsOf(members), await days(members));
}

async function currentMembers(
  facts: Facts,
  { tracked, cache }: AlertProject,
  { totals, range: { to } }: RuleFiles,
  group: Group,
  signal: AbortSignal,
): Promise<string[]> {
  const range = { from: addDays(to, 1 - MEMBERS_RANGE), to };
  const measures = await readTotals(facts, totals, range, tracked, signal);
  return (await groupMembers(cache, tracked, group, measures)).map(({ id }) => id);
}
