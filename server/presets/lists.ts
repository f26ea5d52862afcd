import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKind, ListPair, StoredList } from '../catalog/stored-lists.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { type Compare, Comparer, lengthReasons, type UnsafeReason } from '../domain/comparison.ts';
import { type Day, eachDay, monthsEarlier, pacificDayOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { comparedListRange, listRange } from '../domain/project-ranges.ts';
import { eventsOf, metricsWithEvents, type ProviderEvent } from '../domain/provider-events.ts';
import type { Quality } from '../domain/quality.ts';
import { HISTORY_MONTHS, type Range, type RangeParameters, spanOf } from '../domain/range.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { Facts } from '../facts/facts.ts';
import { listJson } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { dimension, ofRows, table } from '../formats/table.ts';
import { type ListRow, listSet, type Rendering } from '../lists/blocks.ts';
import type { PageRequest, RangeList } from '../lists/list-pages.ts';
import { UnreadableList } from '../lists/list-reader.ts';
import type { ListRequest } from '../lists/list-request.ts';
import {
  isOtherEngine,
  OTHER_ENGINES,
  type OtherEngine,
  type SearchType,
  SURFACES,
  type Surface,
} from '../model/surfaces.ts';
import { PROVIDERS } from '../providers/registry.ts';
import {
  KnownDays,
  type KnownDaysPlan,
  planKnownDays,
  planWatchedDays,
  type RowSource,
  readUnseenEvents,
} from '../query/known-days.ts';
import { planQuality, type QualityPlan, qualityOf } from '../query/quality.ts';
import type { ObjectSet } from '../query/rows.ts';
import {
  compare,
  country,
  formatParameters,
  paging,
  quality,
  rangeParameters,
  readParameters,
  rowLimit,
  selectionParameters,
} from './parameters.ts';
import { type PresetQuery, type PresetRequest, type PresetSources, projectReference } from './preset.ts';
import { instant, object, openWords } from './schemas.ts';
import {
  type OfSurface,
  type OfType,
  ofType,
  refusePositions,
  searchEngine,
  searchType,
  surfaceOf,
  surfaceRange,
  tablesOfType,
} from './search-type.ts';
import { areReconciled, planWeeks, type WeeksPlan, weekReasons } from './weeks.ts';

/** What the two list presets, pages and queries, have in common. */
const common = {
  engine: searchEngine,
  ...rangeParameters,
  type: searchType,
  country,
  compare,
  quality,
  ...paging(1000, 25_000),
  ...formatParameters,
};
export const listParameters = {
  pages: { ...common, ...selectionParameters('pages') },
  queries: { ...common, ...selectionParameters('queries') },
};

const sources = PROVIDERS.flatMap(({ lists }) => (lists === undefined ? [] : [lists]));

const sourceProperties = {
  kind: openWords(
    sources.map(({ source }) => source),
    `${sources.map(({ source, help }) => `${source}: ${help}`).join('; ')}.`,
  ),
  fetchedAt: instant,
  truncated: Type.Boolean({ description: 'There were more rows than the list holds.' }),
  capped: Type.Boolean({ description: 'The list is as long as its source may make it.' }),
};

export const listSource = object('ListSource', {
  ...sourceProperties,
  reconciled: Type.Optional(
    Type.Boolean({
      description: 'Only of weeks: the pages of the weeks add up to the days of the site, in clicks and impressions.',
    }),
  ),
  comparison: Type.Optional(
    object('ComparisonSource', sourceProperties, { description: 'The source of the list of the range of `compare`.' }),
  ),
});

interface ListQuery extends Range, Selection, OfSurface {
  readonly kind: ListKind;
  readonly country: string | null;
  /** Left out for whole lists. */
  readonly pair?: ListPair;
  readonly comparison: Range | null;
  readonly quality: boolean;
  /** The ranges as sent: they are the same for all pages of a sequence. */
  readonly sent: RangeParameters & { readonly compare: Compare | undefined };
  /** Null: all of them. */
  readonly limit: number | null;
  readonly offset: number;
}

/** Whether a result may be so long that concurrency must be limited. */
function isLongList({ limit }: { readonly limit: number | null }): boolean {
  return limit === null;
}

export interface ListPlan {
  readonly query: ListQuery & Pick<PresetQuery, 'format'>;
  readonly project: Project;
  readonly request: ListRequest;
  readonly rendering: Rendering;
  readonly quality: QualityPlan | null;
  /** The list to compare with. */
  readonly compared: {
    readonly request: ListRequest;
    /** The days of stored facts; null for lists from a provider. */
    readonly known: KnownDaysPlan | null;
    /** See `planWatchedDays`. */
    readonly watchedFiles: KnownDaysPlan['watchedFiles'];
  } | null;
  /** Null for lists of days. */
  readonly weeks: WeeksPlan | null;
}

export interface ListSource {
  readonly kind: string;
  readonly fetchedAt: string;
  readonly truncated: boolean;
  readonly capped: boolean;
}

type ListRange = Range &
  OfType & { readonly engine?: OtherEngine; readonly grain?: 'week'; readonly country: string | null };

export interface ListResult {
  /** Metadata before the rows. */
  readonly head: {
    readonly project: { readonly id: string; readonly domain: string };
    readonly range: ListRange & { readonly comparison?: Range };
    readonly source: ListSource & { readonly reconciled?: boolean; readonly comparison?: ListSource };
    readonly quality?: Quality;
    readonly paging: { readonly total: number; readonly limit: number; readonly offset: number };
  };
  /** The property name of the rows. */
  readonly kind: ListKind;
  /** Comma-separated JSON rows in parts, copied from the stored list. */
  readonly json: readonly Buffer[];
  /** Distinguishes successive lists for the same query. */
  readonly lists: readonly StoredList[];
  /** The rows, read on demand, for formats other than JSON. */
  readonly rows: AsyncIterable<readonly ListRow[]> | undefined;
  readonly rendering: Rendering;
}

/** Identifies the lists that a result was read from: the same query may use others later. */
function listVersion({ lists }: ListResult): string {
  return lists.map(({ file, fetchedAt }) => `${file} ${fetchedAt}`).join(' ');
}

export function parseList(kind: ListKind, sent: unknown, project: Project, now: number, pair?: ListPair): ListQuery {
  const {
    engine,
    type,
    country: named = null,
    compare: other,
    quality,
    filter,
    sort,
    limit,
    offset,
    from,
    to,
    period,
  } = readParameters(listParameters[kind], sent);
  checkFields(kind, { type, filter, sort }, pair);
  const ofDevice = (pair?.device ?? null) !== null;
  const surface = surfaceOf(engine, type, { country: named !== null, quality, device: ofDevice }, project);
  const days = listRange({ from, to, period }, project, now);
  return {
    kind,
    ...days,
    ...ofType(surface),
    country: named,
    ...(pair && { pair }),
    comparison: comparedListRange(days, other, now),
    quality,
    sent: { from, to, period, compare: other },
    filter,
    sort,
    limit: rowLimit(sent, limit),
    offset,
  };
}

/** Throws `invalid_request` for what a type without queries does not have. */
function checkFields(
  kind: ListKind,
  { type, ...selection }: Selection & { readonly type: SearchType },
  pair: ListPair | undefined,
): void {
  if (SURFACES[type].hasQueries) return;
  if (kind === 'queries' || pair !== undefined) throw invalidRequest(`type must not be ${type}: it has no queries.`);
  refusePositions(type, selection);
}

function sourceOfRows({ fromProvider, source }: ListRequest): RowSource {
  if (!fromProvider) return 'facts';
  return source === 'bigquery' ? 'bulkExport' : 'api';
}

const DAILY = { pages: 'page_daily', queries: 'query_daily' } as const;

export async function planList(
  query: ListPlan['query'],
  { catalog, project }: { catalog: Catalog; project: Project },
  { lists }: PresetSources,
  ofRows: Rendering,
): Promise<ListPlan> {
  const { kind, type, country: named, pair, sent } = query;
  const surface = type ?? 'web';
  const weeks = isOtherEngine(surface) ? await planWeeks(catalog, project, surface, query) : null;
  const { from, to, comparison } = weeks ?? query;
  const rendering = SURFACES[surface].hasQueries ? ofRows : { ...ofRows, known: 'no_position' as const };
  const asked = { kind, country: named, type, pair };
  const parameters = { from: sent.from, to: sent.to, period: sent.period };
  const request = await lists.plan(project, { ...asked, range: { from, to }, parameters }, catalog);
  const coverage = comparison === null && !query.quality ? {} : await readCoverage(catalog, project.id);
  const daily = pair === undefined ? DAILY[kind] : 'keyword_page_daily';
  // A list of a provider, or one that was exported as a whole, has no stored days of its own.
  const { site } = tablesOfType(type);
  const table = request.fromProvider || coverage[daily] === undefined ? site : daily;
  const quality = query.quality
    ? await planQuality(catalog, project, {
        from,
        to,
        table,
        device: null,
        type,
        source: sourceOfRows(request),
        coverage,
      })
    : null;
  if (comparison === null) return { query, project, request, rendering, quality, compared: null, weeks };
  const base = await lists.plan(project, { ...asked, range: comparison, parameters: sent }, catalog);
  const days = { ranges: [{ from, to }, comparison], coverage };
  const known = request.fromProvider || weeks !== null ? null : await planKnownDays(catalog, project, daily, days);
  const range = spanOf(days.ranges);
  const watchedFiles = known?.watchedFiles ?? (await planWatchedDays(catalog, project.id, { site, range }));
  return { query, project, request, rendering, quality, compared: { request: base, known, watchedFiles }, weeks };
}

export async function runList(
  { query, project, request, rendering, quality, compared, weeks }: ListPlan,
  { lists, facts }: PresetSources,
  { signal, reader }: PresetRequest,
): Promise<ListResult> {
  const { kind, type, country: named, pair, filter, sort, limit, offset } = query;
  const page = { filter, sort, limit, offset, reader };
  const asked: PageRequest = {
    list: request,
    rendering,
    compared: compared && {
      request: compared.request,
      renderingOf: (open, other) =>
        comparedRendering(facts, {
          rendering,
          open,
          other,
          known: compared.known,
          watchedFiles: compared.watchedFiles,
          reasons: weeks === null ? [] : weekReasons(weeks),
          type,
          signal,
        }),
    },
  };
  const {
    list,
    range,
    other,
    total,
    json,
    rows,
    rendering: rendered,
  } = query.format === 'json'
    ? { ...(await lists.pages.json(asked, page, signal)), rows: undefined, rendering }
    : { ...(await lists.pages.rows(asked, page, signal)), json: [] };
  return {
    head: {
      project: projectReference(project),
      range: {
        from: range.from,
        to: range.to,
        ...surfaceRange(type),
        ...(weeks && { grain: 'week' }),
        country: named,
        ...(other === null ? {} : { comparison: other.range }),
      },
      source: {
        ...sourceOf(list),
        ...(weeks && pair === undefined && { reconciled: await areReconciled(facts, weeks, signal) }),
        ...(other === null ? {} : { comparison: sourceOf(other.list) }),
      },
      ...(await qualityOf(facts, quality, signal)),
      paging: { total, limit: limit ?? total, offset },
    },
    kind,
    json,
    lists: other === null ? [list] : [list, other.list],
    rows,
    rendering: rendered,
  };
}

/** If so, a new plan uses another source, or the list that is being fetched again. */
export function wasListLost(error: unknown): boolean {
  return error instanceof UnreadableList;
}

/** The source of a list, in responses. */
export function sourceOf({ source, fetchedAt, truncated, capped }: StoredList): ListSource {
  return { kind: source, fetchedAt: isoInstant(fetchedAt), truncated, capped };
}

/** The rows of a list, read while they are written. */
export function listTable({
  head: { project, range, quality, paging },
  kind,
  rows,
  rendering,
}: ListResult): RowsAnswer {
  async function* sets(): AsyncGenerator<ObjectSet<ListRow>> {
    for await (const part of rows ?? []) yield listSet(rendering, part);
  }
  return table({
    head: { name: `${project.domain}-${kind}`, total: paging.total, range, ...(quality && { quality }) },
    columns: [dimension(rendering.name), 'metrics', ...ofRows(...rendering.fields), 'comparison', 'sum_position'],
    sets: sets(),
    isCompared: range.comparison !== undefined,
  });
}

/** How lists are written. */
export const listFormats = { json: listJson, rows: listTable, isLong: isLongList, version: listVersion };

interface ComparedLists {
  /** The rendering without a comparison. */
  readonly rendering: Rendering;
  readonly open: RangeList;
  readonly other: RangeList;
  /** The days of stored facts; null for lists from a provider. */
  readonly known: KnownDaysPlan | null;
  /** See `planWatchedDays`. */
  readonly watchedFiles: KnownDaysPlan['watchedFiles'];
  /** Further reasons. */
  readonly reasons: readonly UnsafeReason[];
  readonly type: Surface | undefined;
  readonly signal: AbortSignal;
}

/** The rendering of a list that is compared with another one. */
async function comparedRendering(
  facts: Facts,
  { rendering, open, other, known, watchedFiles, reasons: more, type, signal }: ComparedLists,
): Promise<Rendering> {
  const lists = [open, other] as const;
  const days = known && (await readDays(facts, known, lists, signal));
  const reasons = new Set<UnsafeReason>(known === null ? lists.flatMap(providerReasons) : days?.reasons);
  for (const reason of [...more, ...lengthReasons(open.range, other.range)]) reasons.add(reason);
  if (open.list.source !== other.list.source) reasons.add('different_source');
  const [unseen] = await readUnseenEvents(facts, [watchedFiles], signal);
  const ranges = [open.range, other.range] as const;
  const seen = eventsOf(type ?? 'web').filter((event) => !unseen!.has(event));
  const events = metricsWithEvents(ranges, null, days?.events ?? [...seen, ...eventsOfLists(lists)]);
  const total = new Comparer(reasons, events);
  // A row that is missing from a truncated list may have any numbers.
  const absent = other.list.capped ? total.with(['cut_off']) : total;
  const { file, fetchedAt } = other.list;
  return {
    ...rendering,
    variant: cacheKey(rendering.variant, file, fetchedAt, open.range, other.range, [...reasons], [...events]),
    comparerOf: ({ base }) => (base === undefined ? absent : total),
  };
}

/** What is known of the days of lists from stored facts; null if all lists were exported as a whole, which have no days. */
async function readDays(
  facts: Facts,
  known: KnownDaysPlan,
  lists: readonly RangeList[],
  signal: AbortSignal,
): Promise<{ readonly reasons: readonly UnsafeReason[]; readonly events: readonly ProviderEvent[] } | null> {
  const ranges = lists.filter(({ list }) => list.source !== 'gsc').map(({ range }) => range);
  if (ranges.length === 0) return null;
  const days = await KnownDays.read(facts, { ...known, ranges }, signal);
  const reasons = ranges.flatMap(({ from, to }) => eachDay(from, to).flatMap((day) => days.reasonsOn(day)));
  return { reasons, events: days.events };
}

function providerReasons({ list, range }: RangeList): UnsafeReason[] {
  // Other engines do not say which weeks may change.
  const isFinal = list.final || OTHER_ENGINES.some((engine) => engine === list.source);
  const reasons: UnsafeReason[] = isFinal ? [] : ['provisional'];
  if (beginsBeforeApi(list, range)) reasons.push('missing_days');
  return reasons;
}

/** The events of the provider that concern what lists of a provider were read from. */
export function eventsOfLists(lists: readonly Pick<RangeList, 'list'>[]): readonly ProviderEvent[] {
  return lists.some(({ list }) => list.source === 'bigquery') ? eventsOf('bulkExport') : [];
}

/** Whether a list of the reporting API lacks days, which are older than it keeps. */
export function beginsBeforeApi({ source, fetchedAt }: RangeList['list'], { from }: RangeList['range']): boolean {
  return source === 'gsc' && from < firstDayOfApi(fetchedAt);
}

/** @param fetchedAt microseconds */
function firstDayOfApi(fetchedAt: number): Day {
  return monthsEarlier(pacificDayOf(fetchedAt / 1000), HISTORY_MONTHS);
}
