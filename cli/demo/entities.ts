import { alertRuleRows } from './alerts.ts';
import type { Calendar } from './calendar.ts';
import { groupRows, memberRows, pageGroupRows } from './groups.ts';
import { type Keyword, keywordRows } from './keywords.ts';
import { noteRows, workspaceNoteRows } from './notes.ts';
import type { QueryModel } from './queries.ts';
import type { Grouping, History, Site } from './site.ts';

const WORKSPACE = 'demo';

/** A site with its description and everything computed from it. */
export interface World {
  site: Site;
  history: History;
  grouping: Grouping;
  queries: readonly QueryModel[];
  keywords: readonly Keyword[];
}

/** The rows of every entity table, by table. `isBackfilling`: older days follow. */
export function entityTables(
  worlds: readonly World[],
  calendar: Calendar,
  { isBackfilling }: { isBackfilling: boolean },
): Record<string, readonly object[]> {
  const ofAll = (rows: (world: World, index: number) => object | readonly object[]) => worlds.flatMap(rows);
  return {
    workspaces: [{ id: WORKSPACE, name: 'Demo workspace', plan: 'demo', keyword_history_days: 486 }],
    projects: ofAll(({ site }, index) => projectRow(site, index, calendar, isBackfilling)),
    keywords: ofAll(({ site, history, keywords }) => keywordRows(site, history, keywords, calendar)),
    groups: ofAll(({ site, grouping }) => groupRows(site, grouping.groups)),
    group_members: ofAll(({ site, grouping, keywords }) => memberRows(site, grouping.groups, keywords)),
    page_groups: ofAll(({ site, grouping }) => pageGroupRows(site, grouping.pageGroups)),
    alert_rules: ofAll(({ site, history, keywords }) => alertRuleRows(site, history, keywords)),
    notes: [
      ...workspaceNoteRows(WORKSPACE, calendar),
      ...ofAll(({ site, history, keywords }) => noteRows(WORKSPACE, site, history, keywords, calendar)),
    ],
  };
}

function projectRow(site: Site, index: number, calendar: Calendar, isBackfilling: boolean): object {
  return {
    id: site.projectId,
    workspace_id: WORKSPACE,
    domain: site.domain,
    property: site.property,
    country: null,
    language: 'en',
    brand_terms: site.brandTerms,
    sync_status: 'ok',
    last_synced_at: calendar.morningAfter(0, index),
    synced_through: calendar.last,
    // The search engine may still change the last two days.
    provisional_after: calendar.ago(2),
    history_backfilling: isBackfilling,
    setup_finished: true,
    created_at: calendar.morningAfter(472 - index, 300),
  };
}
