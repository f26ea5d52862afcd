import { type Static, Type } from 'typebox';
import { listNotes, type Note, readRankingRecord } from '../catalog/alerts.ts';
import { withTexts } from '../catalog/entities.ts';
import { readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { type ChangeParts, partsOfRow } from '../domain/change-parts.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { explainRows } from '../domain/explained-rows.ts';
import { toMetrics } from '../domain/metrics.ts';
import { comparedListRange, keywordHistoryFrom, listRange } from '../domain/project-ranges.ts';
import { eventsIn, metricsWithEvents } from '../domain/provider-events.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { rankingUpdatesIn } from '../domain/ranking-updates.ts';
import { objects } from '../formats/table.ts';
import { type SearchType, SURFACES } from '../model/surfaces.ts';
import { planQuality, qualityOf } from '../query/quality.ts';
import { inTurns } from '../runtime/turns.ts';
import { noteKeyword, noteSchema } from './events.ts';
import {
  type ClicksChange,
  changeOf,
  EXPLAIN_BY,
  type ExplainBy,
  type PropertyChange,
  planProperty,
  planRows,
  type RangesRow,
  type RowsReason,
  readProperty,
} from './explain-rows.ts';
import { listSource, wasListLost } from './lists.ts';
import * as parameter from './parameters.ts';
import { projectReference, trackedPreset, wholeResult } from './preset.ts';
import {
  columnsOf,
  integer,
  nullable,
  object,
  oneOf,
  openWords,
  position,
  project,
  providerEvents,
  quality,
  range,
  rankingUpdates,
} from './schemas.ts';
import {
  checkEngine,
  type OfType,
  ofType,
  readProjectOf,
  searchEngine,
  searchType,
  tablesOfType,
} from './search-type.ts';

const parameters = {
  ...parameter.rangeParameters,
  engine: searchEngine,
  type: searchType,
  country: {
    ...parameter.country,
    schema: { ...parameter.country.schema, description: 'Only this country; with `by` page or query only.' },
  },
  compare: {
    ...parameter.compare,
    schema: {
      ...parameter.compare.schema,
      default: 'previous',
      description: `The range that clicks changed from: ${parameter.NAMED_RANGES}, or days such as \`2025-08-01..2025-08-28\`.`,
    },
  },
  by: parameter.choice(
    'ExplainBy',
    EXPLAIN_BY,
    'page',
    'What the rows are. Keywords are the tracked ones; brand has two rows, with and without brand terms.',
  ),
  limit: parameter.wholeNumber({ minimum: 1, maximum: 1000 }, 20, 'Maximum number of rows; `rest` has the others.'),
  quality: parameter.quality,
  ...parameter.formatParameters,
};

interface ExplainQuery extends Range, OfType {
  readonly country: string | null;
  readonly comparison: Range;
  readonly by: ExplainBy;
  readonly limit: number;
  readonly quality: boolean;
  /** Whether the other range is the one just before, so that what usually happens between such ranges can be said. */
  readonly hasUsual: boolean;
  /** The first day of keyword data that the plan can read. */
  readonly historyFrom: Day;
}

/** Why parts of an explanation may mislead, in the order of responses. */
const EXPLAIN_REASONS = [
  'provider_event',
  'provisional',
  'missing_days',
  'monthly_spread',
  'cut_off',
  'different_source',
  'weekday_mix',
  'low_base',
] as const;
type ExplainReason = (typeof EXPLAIN_REASONS)[number];

/** What may mislead, in the order of responses. */
const EXPLAIN_WHAT = ['parts', 'change', 'rows'] as const;

const changed = object(
  'ChangedCount',
  { now: integer({ minimum: 0 }), base: integer({ minimum: 0 }), difference: integer() },
  { description: 'The number in the range and in the one to compare with, and now minus base.' },
);

const parts = Type.Object(
  {
    impressions: nullable(integer(), 'Clicks from more or fewer impressions; null if it is not known.'),
    position: nullable(
      integer(),
      'Clicks from better or worse positions, by the CTR that rows of the property have at them; null if it is not known.',
    ),
    ctr: nullable(integer(), 'Clicks that impressions and positions do not explain; null if it is not known.'),
    gained: integer({ minimum: 0, description: 'Clicks of rows without impressions in the other range.' }),
    lost: integer({ description: 'Minus the clicks of rows without impressions in the range.' }),
    clicks: nullable(integer(), 'The first three together, if they cannot be told apart; else null.'),
    notAttributed: Type.Optional(
      integer({ description: 'Not of rows: what they do not have, such as clicks of anonymised queries.' }),
    ),
  },
  {
    title: 'ChangeParts',
    description: 'Whole clicks that add up to the difference.',
    additionalProperties: false,
  },
);

const rowKeys = {
  page: Type.Optional(Type.String()),
  query: Type.Optional(Type.String()),
  keyword: Type.Optional(noteKeyword),
  device: Type.Optional(Type.String()),
  country: Type.Optional(Type.String()),
  segment: Type.Optional(openWords(['brand', 'nonBrand'])),
};

const changes = {
  clicks: changed,
  impressions: changed,
  position: object('ChangedPosition', { now: position, base: position }),
  parts,
};

const row = Type.Object(
  { ...rowKeys, ...changes },
  {
    title: 'ExplainedRow',
    description: 'Has the property that `by` names (segment for brand).',
    additionalProperties: false,
  },
);

const usual = object(
  'UsualChange',
  {
    low: integer(),
    high: integer(),
    windows: integer({ description: 'The pairs of adjacent windows of the past year.' }),
  },
  { description: 'Nine of ten changes between windows of this length were between low and high.' },
);

const answer = object('ExplainAnswer', {
  project,
  range,
  change: object('PropertyChange', { clicks: changed }, { description: 'Of the whole property.' }),
  usual: nullable(usual, 'Null unless `compare` is previous and a year of days is stored.'),
  by: oneOf('ExplainBy', EXPLAIN_BY),
  source: nullable(listSource, 'The lists that pages and queries were read from; else null.'),
  quality,
  parts,
  rows: Type.Array(row, { description: 'Those that changed most first.' }),
  rest: object(
    'ExplainedRest',
    { rows: integer({ minimum: 0 }), clicks: changed, parts },
    { description: 'All rows minus the listed ones, with what rounding each row by itself leaves.' },
  ),
  events: providerEvents('Changes in what the search engine counts, on days of either range.'),
  ...rankingUpdates,
  notes: Type.Array(noteSchema, { description: 'Notes on days of either range.' }),
  unsafe: Type.Array(object('ExplainUnsafe', { what: openWords(EXPLAIN_WHAT), reason: openWords(EXPLAIN_REASONS) }), {
    description: 'What may mislead, and why.',
  }),
});

/** Why the clicks of a property changed: parts that add up to the change, and the rows that they come from. */
export const explainPreset = trackedPreset({
  path: '/projects/:id/explain',
  operation: 'explainChange',
  tag: 'Site',
  summary: 'Why the clicks of the property changed',
  description:
    'Splits the change of clicks from another range into parts that add up to it: impressions, positions, CTR, rows that came and went, and what no row can say. `to` must be before today (UTC).',
  answer,
  content: 'The explanation.',
  errors: ['google_access_lost'],
  examples: {
    200: '/projects/Proj1/explain?from=2026-03-10&by=keyword&limit=1',
    400: '/projects/Proj1/explain?by=device&country=gbr',
    503: '/projects/Proj2/explain',
  },
  parameters,
  parse: (sent, project, now): ExplainQuery => {
    const values = parameter.readParameters(parameters, sent);
    const { engine, type, country = null, by, limit, quality, from, to, period, compare = 'previous' } = values;
    if (country !== null && by !== 'page' && by !== 'query') {
      throw invalidRequest(`country goes with by=page and by=query only, not with by=${by}; leave one of them out.`);
    }
    checkEngine(engine, 'days of pages and queries');
    checkType(type, by);
    const range = listRange({ from, to, period }, project, now);
    const comparison = comparedListRange(range, compare, now)!;
    const historyFrom = keywordHistoryFrom(project, now);
    const hasUsual = compare === 'previous';
    return { ...range, ...ofType(type), country, comparison, by, limit, quality, hasUsual, historyFrom };
  },
  plan: async (query, stored, sources) => {
    const { catalog } = stored;
    const project = await readProjectOf(catalog, query.type, stored.project);
    const snapshot = { ...stored, project };
    const { type, country, comparison, by, hasUsual } = query;
    const ranges = { now: { from: query.from, to: query.to }, base: comparison, country, ...(type && { type }) };
    const coverage = project.syncedThrough === null ? {} : await readCoverage(catalog, project.id);
    const { from, to } = spanOf([ranges.now, comparison]);
    const { lists } = sources;
    const asked = { ...ranges, table: TABLES[by], coverage, historyFrom: query.historyFrom };
    const rows = await planRows(by, { ...snapshot, lists }, asked);
    const isWeb = type === undefined;
    const table = isWeb ? TABLES[by] : tablesOfType(type)[by === 'country' ? 'country' : 'site'];
    return {
      query,
      project,
      rows,
      property: await planProperty(catalog, project, ranges, { hasUsual, coverage }),
      notes: await listNotes(catalog, {
        project: project.id,
        workspace: project.workspaceId,
        from,
        to,
        clientVisible: false,
      }),
      rankings: rankingUpdatesIn(await readRankingRecord(catalog), [ranges.now, comparison], {
        surface: type ?? 'web',
        syncedThrough: project.syncedThrough,
      }),
      quality: query.quality
        ? await planQuality(catalog, project, { ...ranges.now, table, device: null, type, coverage })
        : null,
    };
  },
  run: async ({ query, project, rows: read, property, notes, rankings, quality }, sources, { signal }) => {
    const { type, by, limit, country, comparison } = query;
    const { facts } = sources;
    const range = { from: query.from, to: query.to };
    const hasPositions = SURFACES[type ?? 'web'].hasQueries;
    const [of, rows, known] = await Promise.all([
      readProperty(facts, property, signal),
      read(sources, limit, signal),
      qualityOf(facts, quality, signal),
    ]);
    const events = [...new Set([...of.events, ...rows.events])];
    const changed = metricsWithEvents([range, comparison], null, events);
    const isSafe = !(changed.has('impressions') || changed.has('position'));
    const { split, sums, parts } = await inTurns(
      explainRows(rows.sums, { hasPositions: HAS_POSITIONS.has(by) && hasPositions, isSafe }),
    );
    const listed = rows.most.map((row) => ({
      ...rowOf(row, hasPositions),
      parts: partsOfRow(row.now, row.base, split),
    }));
    const all = changeOf(sums.now.clicks, sums.base.clicks);
    return {
      project: projectReference(project),
      range: { ...range, ...(type && { type }), country, comparison },
      change: { clicks: of.clicks },
      usual: of.usual,
      by,
      source: rows.source,
      ...known,
      parts: { ...parts, notAttributed: of.clicks.difference - all.difference },
      rows: listed,
      rest: restOf({ rows: rows.sums.length, clicks: all, parts }, listed),
      events: eventsIn([range, comparison], null, events),
      ...rankings,
      notes: notes
        .filter((note) => [range, comparison].some((each) => touches(note, each)))
        .map((note) => withTexts('notes', note)),
      unsafe: unsafeOf({ range, comparison, project, property: of, rows: rows.reasons, isSafe, changed }),
    };
  },
  mayReplan: wasListLost,
  rows: ({ project, range, change, by, quality, parts, rows, rest }) => {
    const key = by === 'brand' ? 'segment' : by;
    const named = (text: string) => ({ [key]: by === 'keyword' ? { query: text } : text });
    const hasRest = rest.rows > 0 || Object.values(rest.parts).some((part) => part !== null && part !== 0);
    const listed = [...rows, ...(hasRest ? [rest] : [])];
    const sumOf = (of: 'now' | 'base'): number => listed.reduce((sum, { clicks }) => sum + clicks[of], 0);
    const { notAttributed } = parts;
    // So that the sum of a column is that of the property.
    const flat = [
      ...rows,
      ...(hasRest ? [{ ...named('_rest'), clicks: rest.clicks, parts: rest.parts }] : []),
      {
        ...named('_not_attributed'),
        clicks: {
          now: change.clicks.now - sumOf('now'),
          base: change.clicks.base - sumOf('base'),
          difference: notAttributed,
        },
        parts: { notAttributed },
      },
    ] as Static<typeof row>[];
    return objects(
      { name: `${project.domain}-explain`, total: rows.length + rest.rows, range, ...(quality && { quality }) },
      flat,
      columnsOf(Type.Object({ [key]: rowKeys[key], ...changes })),
    );
  },
  version: wholeResult,
});

/** The rows whose positions are told apart. */
const HAS_POSITIONS: ReadonlySet<ExplainBy> = new Set(['page', 'query', 'keyword']);

const TABLES = {
  page: 'page_daily',
  query: 'query_daily',
  keyword: 'keyword_daily',
  device: 'site_daily',
  country: 'country_daily',
  brand: 'brand_daily',
} as const;

/** Throws `invalid_request` for rows that a type does not have. */
function checkType(type: SearchType, by: ExplainBy): void {
  if (type === 'web') return;
  const refuse = (why: string): never => {
    throw invalidRequest(`type must not be ${type} with by=${by}: ${why}.`);
  };
  if (by === 'keyword' || by === 'brand') refuse(`${by === 'keyword' ? 'keywords' : 'brand'} rows are of web only`);
  if (by === 'query' && !SURFACES[type].hasQueries) refuse('it has no queries');
  if (by === 'device' && !SURFACES[type].hasDevices) refuse('it has no devices');
}

function rowOf({ key, now, base }: RangesRow, hasPositions: boolean) {
  return {
    ...key,
    clicks: changeOf(now.clicks, base.clicks),
    impressions: changeOf(now.impressions, base.impressions),
    position: hasPositions
      ? { now: toMetrics(now).position, base: toMetrics(base).position }
      : { now: null, base: null },
  };
}

function touches({ date, endDate }: Note, { from, to }: Range): boolean {
  return date <= to && (endDate ?? date) >= from;
}

interface Explained {
  readonly clicks: ClicksChange;
  readonly parts: ChangeParts;
}

/** All rows without the listed ones. It also has what rounding each row by itself leaves. */
function restOf(all: Explained & { readonly rows: number }, listed: readonly Explained[]) {
  const sum = (of: (row: Explained) => number): number => listed.reduce((total, row) => total + of(row), 0);
  const { now, base } = all.clicks;
  const restOfPart = <Part extends number | null>(name: keyof ChangeParts, part: Part): Part =>
    part === null ? part : ((part - sum(({ parts }) => parts[name] ?? 0)) as Part);
  const { impressions, position, ctr, gained, lost, clicks } = all.parts;
  return {
    rows: all.rows - listed.length,
    clicks: changeOf(now - sum((row) => row.clicks.now), base - sum((row) => row.clicks.base)),
    parts: {
      impressions: restOfPart('impressions', impressions),
      position: restOfPart('position', position),
      ctr: restOfPart('ctr', ctr),
      gained: restOfPart('gained', gained),
      lost: restOfPart('lost', lost),
      clicks: restOfPart('clicks', clicks),
    },
  };
}

interface Unsafe {
  readonly what: (typeof EXPLAIN_WHAT)[number];
  readonly reason: ExplainReason;
}

/** Clicks of the other range below which a change says little. */
const MIN_BASE = 20;

/** What of an answer may mislead. @param rows why its rows are unsafe */
function unsafeOf({
  range,
  comparison,
  project: { provisionalAfter },
  property,
  rows,
  isSafe,
  changed,
}: {
  readonly range: Range;
  readonly comparison: Range;
  readonly project: Project;
  readonly property: PropertyChange;
  readonly rows: ReadonlySet<RowsReason>;
  readonly isSafe: boolean;
  /** The metrics that events of the provider make unsafe. */
  readonly changed: ReturnType<typeof metricsWithEvents>;
}): Unsafe[] {
  const isProvisional = ({ to }: Range): boolean => provisionalAfter !== null && to > provisionalAfter;
  const found: Readonly<Record<Unsafe['what'], ReadonlySet<ExplainReason>>> = {
    parts: new Set(isSafe ? [] : ['provider_event']),
    change: new Set<ExplainReason>([
      ...(changed.has('clicks') ? (['provider_event'] as const) : []),
      ...([range, comparison].some(isProvisional) ? (['provisional'] as const) : []),
      ...(property.lacksDays ? (['missing_days'] as const) : []),
      ...(property.isSpread ? (['monthly_spread'] as const) : []),
      ...(weekdaysOf(range) === weekdaysOf(comparison) ? [] : (['weekday_mix'] as const)),
      ...(property.clicks.base < MIN_BASE ? (['low_base'] as const) : []),
    ]),
    rows,
  };
  return EXPLAIN_REASONS.flatMap((reason) =>
    EXPLAIN_WHAT.filter((what) => found[what].has(reason)).map((what) => ({ what, reason })),
  );
}

/** How often each weekday is in a range, as a text. */
function weekdaysOf({ from, to }: Range): string {
  const counts = Array<number>(7).fill(0);
  for (const day of eachDay(from, to)) counts[new Date(day).getUTCDay()]!++;
  return counts.join();
}
