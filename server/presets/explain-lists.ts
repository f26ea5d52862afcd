import type { Catalog } from '../catalog/catalog.ts';
import type { Coverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { StoredList } from '../catalog/stored-lists.ts';
import type { FactTable } from '../model/tables.ts';
import { planRowDays, readRowDays } from '../query/strict-days.ts';
import { beginsBeforeApi, eventsOfLists } from './compared-lists.ts';
import type { TwoRanges } from './explain-property.ts';
import type { ReadRows, RowsReason } from './explain-rows.ts';
import { sourceOf } from './lists.ts';
import type { ReportSources } from './report.ts';

const OF = {
  page: { kind: 'pages', table: 'page_daily' },
  query: { kind: 'queries', table: 'query_daily' },
} as const;

/**
 * Plans to read the whole page or query lists of two ranges, as `/pages` and `/queries` answer them. Throws what they
 * throw for a project without a source.
 */
export async function planListRows(
  by: 'page' | 'query',
  { catalog, project, lists }: { catalog: Catalog; project: Project } & Pick<ReportSources, 'lists'>,
  { now, base, country, type }: TwoRanges,
  coverage: Readonly<Partial<Record<FactTable, Coverage>>>,
): Promise<ReadRows> {
  const { kind, table } = OF[by];
  const requests = {
    now: await lists.plan(project, { kind, country, type, range: now }, catalog),
    base: await lists.plan(project, { kind, country, type, range: base, parameters: { compare: base } }, catalog),
  };
  const { fromProvider } = requests.now;
  const days = fromProvider ? null : await planRowDays(catalog, project, table, { ranges: [now, base], coverage });
  return async ({ lists: read, facts }, limit, signal) => {
    const joined = await read.pages.joined(requests, limit, signal);
    const both = [
      { list: joined.now, range: now },
      { list: joined.base, range: base },
    ];
    const reasons = new Set<RowsReason>();
    // Lists that were exported as a whole have no days.
    const ofDays = both.filter(({ list }) => list.source !== 'gsc').map(({ range: each }) => each);
    const { lacks, events } =
      days === null
        ? {
            lacks: both.some(({ list, range: each }) => beginsBeforeApi(list, each)),
            events: eventsOfLists(both),
          }
        : await readRowDays(facts, { ...days, ranges: ofDays }, signal);
    if (lacks) reasons.add('missing_days');
    if (both.some(({ list }) => list.capped)) reasons.add('cut_off');
    if (joined.now.source !== joined.base.source) reasons.add('different_source');
    return {
      sums: joined.sums,
      most: joined.most.map(({ text, ...measures }) => ({
        key: by === 'page' ? { page: text } : { query: text },
        ...measures,
      })),
      source: sourcesOf(joined),
      reasons,
      events,
    };
  };
}

function sourcesOf({ now, base }: { readonly now: StoredList; readonly base: StoredList }) {
  return { ...sourceOf(now), comparison: sourceOf(base) };
}
