import { AlertCalendar } from '../../server/alerts/calendar.ts';
import { readAlertProject } from '../../server/alerts/project-state.ts';
import { type ProjectFacts, readProjectFacts } from '../../server/alerts/read-facts.ts';
import type { Catalog } from '../../server/catalog/catalog.ts';
import type { SyncedDays } from '../../server/catalog/evaluations.ts';
import { filesOf, keywordFilesUntil } from '../../server/catalog/manifest.ts';
import { PROVIDER_EVENTS } from '../../server/domain/provider-events.ts';
import type { Range } from '../../server/domain/range.ts';
import type { Facts } from '../../server/facts/facts.ts';
import { KEYWORDS, type LimitedFormula, openingsOf, TRAFFIC } from './compare.ts';
import type { KeywordDays } from './keyword-formulas.ts';

/** The facts of a project that its checks read. */
export interface ProjectDays extends ProjectFacts {
  readonly calendar: AlertCalendar;
}

/** Projects of the evidence are not synced. */
const NOTHING: SyncedDays = new Map();

export async function readProjectDays(
  { catalog, facts }: { catalog: Catalog; facts: Facts },
  id: string,
  range: Range,
): Promise<ProjectDays> {
  const input = await readAlertProject(catalog, id, async ({ keywords }, own) => ({
    keywords,
    files: {
      site: await filesOf(own, id, 'site_daily', range),
      keywords: await keywordFilesUntil(own, id, range.to, true),
      pages: [],
    },
  }));
  const { keywords, files } = input!;
  const synced = { site_daily: NOTHING, keyword_daily: NOTHING, keyword_page_daily: NOTHING, page_daily: NOTHING };
  const query = {
    files,
    range,
    synced,
    gaps: new Map(),
    open: new Set<string>(),
    signal: new AbortController().signal,
  };
  return {
    ...(await readProjectFacts(facts, query, keywords)),
    calendar: new AlertCalendar(range, PROVIDER_EVENTS, []),
  };
}

/** How many alerts a formula opens for the clicks of a project. */
export function countTrafficOpenings(
  { site: { clicks, stored } }: ProjectDays,
  limited: LimitedFormula<ArrayLike<number>>,
): number {
  return openingsOf(TRAFFIC, limited, clicks, clicks.length, (from, day) => stored.areWhole(from, day)).length;
}

/** How many alerts a formula opens for the keywords of a project, without grouping. */
export function countKeywordOpenings(
  { keywords, calendar }: ProjectDays,
  limited: LimitedFormula<KeywordDays>,
): number {
  const isKnown = (from: number, day: number): boolean =>
    keywords.stored.areWhole(from, day) && !calendar.crossesEvent(from, day);
  return keywords.keywords.reduce(
    (total, _, keyword) =>
      total + openingsOf(KEYWORDS, limited, keywords.sumsOf(keyword), keywords.days, isKnown).length,
    0,
  );
}
