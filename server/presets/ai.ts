import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, filesOf, manifestOf } from '../catalog/fact-files.ts';
import { addDays } from '../domain/dates.ts';
import { siteRange } from '../domain/project-ranges.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import { compareTexts } from '../domain/texts.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { EVERY_ROW } from '../facts/sums.ts';
import { objects } from '../formats/table.ts';
import { ENGINES } from '../model/surfaces.ts';
import { AI_ENGINES, AI_TABLES, type AiEngine, type AiMeasure, MEASURES } from '../model/tables.ts';
import type { StoredFile } from '../storage/file-store.ts';
import * as parameter from './parameters.ts';
import { projectPreset, projectReference } from './preset.ts';
import { aiProperties, columnsOf, day, nullable, object, openWords, paging, project, range } from './schemas.ts';

const BY = ['date', 'page'] as const;
const by = parameter.choice('AiBy', BY, 'date', 'What rows are about.');
const parameters = {
  ...parameter.rangeParameters,
  by,
  ...parameter.paging(1000, 25_000),
  ...parameter.formatParameters,
};

/** What the reports of both engines count; null if it is not stored. */
export type AiCounts = Readonly<Record<AiCount, number | null>>;
type AiCount = (typeof MEASURES)[AiMeasure]['as'];
/** What the report of each engine counts. */
export const AI_COUNTS = ofEngines((engine): AiCount => MEASURES[AI_TABLES[engine].measure].as);
const COUNT_NAMES = Object.values(AI_COUNTS);
const UNKNOWN = Object.fromEntries(COUNT_NAMES.map((name) => [name, null])) as AiCounts;

function ofEngines<Value>(of: (engine: AiEngine) => Value): Readonly<Record<AiEngine, Value>> {
  return Object.fromEntries(AI_ENGINES.map((engine) => [engine, of(engine)])) as Record<AiEngine, Value>;
}

type Files = Readonly<Record<AiEngine, readonly StoredFile[]>>;

const row = object('AiRow', {
  date: nullable(day, 'Only by date.'),
  page: nullable(Type.String(), 'Only by page.'),
  ...aiProperties,
});

const answer = object('AiAnswer', {
  project,
  range,
  by: openWords(['date', 'page']),
  totals: object('AiTotals', aiProperties, {
    description: 'The sums of the stored days of the range. Pages do not add up to them.',
  }),
  lists: Type.Array(
    object('AiList', {
      engine: openWords(ENGINES),
      from: Type.String({ format: 'date' }),
      to: Type.String({ format: 'date' }),
    }),
    { description: 'The imported lists that pages are from: pages are counted in these days only.' },
  ),
  paging,
  rows: Type.Array(row),
});

/** What was imported of the engines' reports about AI answers. The two are different things, and no clicks or impressions. */
export const aiPreset = projectPreset({
  path: '/projects/:id/ai',
  operation: 'getAiReport',
  tag: 'Site',
  summary: "What the engines' reports about AI answers count",
  description:
    "Imported by `ordinate import ai-report`. Impressions of Google's report and citations of Bing's are different things, and neither is a part of clicks or impressions. By page, the longest imported lists inside the range that have no day in common are added up; `lists` names their days.",
  answer,
  content: 'The days, in order, or the pages with most first.',
  examples: {
    200: '/projects/Proj1/ai?period=28d',
    400: '/projects/Proj1/ai?by=query',
  },
  parameters,
  parse: (sent, project, now) => {
    const { by: rowsBy, limit, offset, ...range } = parameter.readParameters(parameters, sent);
    return { ...siteRange(range, project, now), by: rowsBy, limit: parameter.rowLimit(sent, limit), offset };
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
    const listed = ofEngines((engine) => filesIn(lists, engine));
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
  rows: ({ project, range, paging, rows }) =>
    objects({ name: `${project.domain}-ai`, total: paging.total, range }, rows, columnsOf(row)),
});

/** The files of the days of both engines. */
export async function planAiDays(catalog: Catalog, project: string, range: Range): Promise<Files> {
  const files = await Promise.all(AI_ENGINES.map((engine) => filesOf(catalog, project, AI_TABLES[engine].days, range)));
  return ofEngines((engine) => files[AI_ENGINES.indexOf(engine)]!);
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
  readonly engine: AiEngine;
  readonly file: FactFile;
}

/** Lists of pages inside a range that have no day in common: from its start, each time the longest one. */
async function planLists(catalog: Catalog, project: string, { from, to }: Range): Promise<List[]> {
  const ofEngines = AI_ENGINES.map(async (engine) => {
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

function filesIn(lists: readonly List[], engine: AiEngine): FactFile[] {
  return lists.filter((list) => list.engine === engine).map(({ file }) => file);
}

async function readCounts(
  facts: Facts,
  of: 'days' | 'pages',
  { files, range, signal }: { files: Files; range: Range; signal: AbortSignal },
): Promise<Map<string, AiCounts>> {
  const counts = new Map<string, AiCounts>();
  const ofEngines = await Promise.all(
    AI_ENGINES.map((engine) => readCount(facts, engine, of, { files: files[engine], range, signal })),
  );
  for (const [index, engine] of AI_ENGINES.entries()) {
    for (const [name, count] of ofEngines[index]!) {
      counts.set(name, { ...(counts.get(name) ?? UNKNOWN), [AI_COUNTS[engine]]: count });
    }
  }
  return counts;
}

/** What an engine's table counts, by day or page, in order. */
async function readCount(facts: Facts, engine: AiEngine, of: 'days' | 'pages', query: FactsQuery) {
  const by = of === 'days' ? 'date' : 'url';
  const { rows } = await facts.sums<Readonly<Record<string, number>>>({
    ...query,
    table: AI_TABLES[engine][of],
    by: [by],
    test: EVERY_ROW,
    hasZeros: true,
  });
  const counts = rows.map(({ names: [name], now }) => [name!, now[AI_COUNTS[engine]]!] as const);
  return counts.sort(([a], [b]) => (a < b ? -1 : 1));
}

function totalsOf(all: Iterable<AiCounts>): AiCounts {
  const totals = { ...UNKNOWN };
  for (const counts of all) {
    for (const name of COUNT_NAMES) if (counts[name] !== null) totals[name] = (totals[name] ?? 0) + counts[name];
  }
  return totals;
}

function byCounts([pageA, a]: readonly [string, AiCounts], [pageB, b]: readonly [string, AiCounts]): number {
  const name = COUNT_NAMES.find((one) => a[one] !== b[one]);
  return name === undefined ? compareTexts(pageA, pageB) : (b[name] ?? -1) - (a[name] ?? -1);
}
