import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, filesOf, manifestOf } from '../catalog/manifest.ts';
import { addDays } from '../domain/dates.ts';
import { siteRange } from '../domain/project-ranges.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import { compareTexts } from '../domain/texts.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { EVERY_ROW } from '../facts/sums.ts';
import { ENGINES, type SearchEngine } from '../model/surfaces.ts';
import { AI_TABLES } from '../model/tables.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { choice, formatParameters, paging, rangeParameters, readParameters, rowLimit } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';

const BY = ['date', 'page'] as const;
const by = choice('AiBy', BY, 'date', 'What rows are about.');
const parameters = { ...rangeParameters, by, ...paging(1000, 25_000), ...formatParameters };

/** What the reports of both engines count; null if it is not stored. */
export interface AiCounts {
  readonly aiImpressions: number | null;
  readonly citations: number | null;
}
const NAMES = { google: 'aiImpressions', bing: 'citations' } as const;
const UNKNOWN: AiCounts = { aiImpressions: null, citations: null };

type Files = Readonly<Record<SearchEngine, readonly StoredFile[]>>;

/** What was imported of the engines' reports about AI answers. The two are different things, and no clicks or impressions. */
export const aiReport = projectReport({
  operation: 'getAiReport',
  parameters,
  parse: (sent, project, now) => {
    const { by: rowsBy, limit, offset, ...range } = readParameters(parameters, sent);
    return { ...siteRange(range, project, now), by: rowsBy, limit: rowLimit(sent, limit), offset };
  },
  plan: async (query, { catalog, project }) => ({
    query,
    project,
    days: await planAiDays(catalog, project.id, query),
    lists: query.by === 'page' ? await planLists(catalog, project.id, query) : [],
  }),
  run: async ({ query, project, days, lists }, { facts }, { signal }) => {
    const { from, to, limit, offset } = query;
    const range = { from, to };
    const daily = await readCounts(facts, 'days', { files: days, range, signal });
    const listed = { google: filesIn(lists, 'google'), bing: filesIn(lists, 'bing') };
    const rows =
      query.by === 'date'
        ? [...daily].sort(([a], [b]) => (a < b ? -1 : 1))
        : [...(await readCounts(facts, 'pages', { files: listed, range, signal }))].sort(byCounts);
    return {
      project: projectReference(project),
      range,
      by: query.by,
      totals: totalsOf(daily.values()),
      lists: lists.map(({ engine, file: { firstDay, lastDay } }) => ({ engine, from: firstDay, to: lastDay })),
      paging: { total: rows.length, limit: Math.max(1, limit ?? rows.length), offset },
      rows: rows.slice(offset, offset + (limit ?? rows.length)).map(([name, counts]) => ({
        date: query.by === 'date' ? name : null,
        page: query.by === 'page' ? name : null,
        ...counts,
      })),
    };
  },
});

export type AiResult = Awaited<ReturnType<typeof aiReport.run>>;

/** The files of the days of both engines. */
export async function planAiDays(catalog: Catalog, project: string, range: Range): Promise<Files> {
  const [google, bing] = await Promise.all(
    ENGINES.map((engine) => filesOf(catalog, project, AI_TABLES[engine].days, range)),
  );
  return { google: google!, bing: bing! };
}

/** The sums of the stored days of a range; null where none is stored. */
export async function readAiTotals(
  facts: Facts,
  files: Files,
  { range, signal }: { readonly range: Range; readonly signal: AbortSignal },
): Promise<AiCounts> {
  return totalsOf((await readCounts(facts, 'days', { files, range, signal })).values());
}

interface List {
  readonly engine: SearchEngine;
  readonly file: FactFile;
}

/** Lists of pages inside a range that have no day in common: from its start, each time the longest one. */
async function planLists(catalog: Catalog, project: string, { from, to }: Range): Promise<List[]> {
  const ofEngines = ENGINES.map(async (engine) => {
    const stored = await manifestOf(catalog, project, AI_TABLES[engine].pages, EVERY_DAY);
    const inside = stored.filter(({ firstDay, lastDay }) => firstDay >= from && lastDay <= to);
    inside.sort((a, b) =>
      a.firstDay === b.firstDay ? (a.lastDay > b.lastDay ? -1 : 1) : a.firstDay < b.firstDay ? -1 : 1,
    );
    const chosen: List[] = [];
    let next = from;
    for (const file of inside) {
      if (file.firstDay < next) continue;
      chosen.push({ engine, file });
      next = addDays(file.lastDay, 1);
    }
    return chosen;
  });
  return (await Promise.all(ofEngines)).flat();
}

function filesIn(lists: readonly List[], engine: SearchEngine): FactFile[] {
  return lists.filter((list) => list.engine === engine).map(({ file }) => file);
}

async function readCounts(
  facts: Facts,
  of: 'days' | 'pages',
  { files, range, signal }: { files: Files; range: Range; signal: AbortSignal },
): Promise<Map<string, AiCounts>> {
  const counts = new Map<string, AiCounts>();
  const ofEngines = await Promise.all(
    ENGINES.map((engine) => readCount(facts, engine, of, { files: files[engine], range, signal })),
  );
  for (const [index, engine] of ENGINES.entries()) {
    for (const [name, count] of ofEngines[index]!) {
      counts.set(name, { ...(counts.get(name) ?? UNKNOWN), [NAMES[engine]]: count });
    }
  }
  return counts;
}

/** What an engine's table counts, by day or page, in order. */
async function readCount(facts: Facts, engine: SearchEngine, of: 'days' | 'pages', query: FactsQuery) {
  const by = of === 'days' ? 'date' : 'url';
  const { rows } = await facts.sums<Readonly<Record<string, number>>>({
    ...query,
    table: AI_TABLES[engine][of],
    by: [by],
    test: EVERY_ROW,
    hasZeros: true,
  });
  const counts = rows.map(({ names: [name], now }) => [name!, now[NAMES[engine]]!] as const);
  return counts.sort(([a], [b]) => (a < b ? -1 : 1));
}

function totalsOf(all: Iterable<AiCounts>): AiCounts {
  let { aiImpressions, citations } = UNKNOWN;
  for (const counts of all) {
    if (counts.aiImpressions !== null) aiImpressions = (aiImpressions ?? 0) + counts.aiImpressions;
    if (counts.citations !== null) citations = (citations ?? 0) + counts.citations;
  }
  return { aiImpressions, citations };
}

function byCounts([pageA, a]: readonly [string, AiCounts], [pageB, b]: readonly [string, AiCounts]): number {
  const difference = (b.aiImpressions ?? -1) - (a.aiImpressions ?? -1) || (b.citations ?? -1) - (a.citations ?? -1);
  return difference || compareTexts(pageA, pageB);
}
