import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKind } from '../catalog/stored-lists.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Range, RangeParameters } from '../domain/range.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { ListRow, Rendering } from '../lists/blocks.ts';
import type { ListRequest } from '../lists/list-request.ts';
import {
  country,
  formatParameters,
  paging,
  rangeParameters,
  readParameters,
  rowLimit,
  selectionParameters,
} from './parameters.ts';
import { listRange } from './ranges.ts';
import { type Caller, type ProjectQuery, projectReference, type ReportSources } from './report.ts';

/** Parameters shared by the list reports, pages and queries. */
const common = { ...rangeParameters, country, ...paging(1000, 25_000), ...formatParameters };
export const listParameters = {
  pages: { ...common, ...selectionParameters('pages') },
  queries: { ...common, ...selectionParameters('queries') },
};

interface ListQuery extends Range, Selection {
  readonly kind: ListKind;
  readonly country: string | null;
  /** The range parameters as sent; all pages of a sequence have the same. */
  readonly sent: RangeParameters;
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** Whether a result may be so long that concurrency must be limited. */
export function isLongList({ limit }: { readonly limit: number | null }): boolean {
  return limit === null;
}

interface ListPlan {
  readonly query: ListQuery & Pick<ProjectQuery, 'format'>;
  readonly project: Project;
  readonly request: ListRequest;
  readonly rendering: Rendering;
}

export interface ListResult {
  /** Metadata before the rows. */
  readonly head: {
    readonly project: { readonly id: string; readonly domain: string };
    readonly range: Range & { readonly country: string | null };
    readonly source: object;
    readonly paging: { readonly total: number; readonly limit: number; readonly offset: number };
  };
  /** The property name of the rows. */
  readonly kind: ListKind;
  /** Comma-separated JSON rows in parts, copied from the stored list. */
  readonly json: readonly Buffer[];
  /** Identifies the list among successive lists for the same query. */
  readonly list: readonly [file: string, fetchedAt: number];
  /** The rows for formats other than JSON, read lazily. */
  readonly rows: AsyncIterable<readonly ListRow[]> | undefined;
  readonly render: Rendering['render'];
}

/** The version of the list behind a result; a newer list may replace it. */
export function listVersion({ list }: ListResult): string {
  return list.join(' ');
}

export function parseList(kind: ListKind, sent: unknown, project: Project, now: number): ListQuery {
  const values = readParameters(listParameters[kind], sent);
  const { country: named = null, filter, sort, limit, offset, from, to, period } = values;
  const range = { from, to, period };
  const days = listRange(range, project, now);
  return { kind, ...days, country: named, sent: range, filter, sort, limit: rowLimit(sent, limit), offset };
}

export async function planList(
  query: ListPlan['query'],
  { catalog, project }: { catalog: Catalog; project: Project },
  { lists }: ReportSources,
  rendering: Rendering,
): Promise<ListPlan> {
  const { kind, from, to, country: named, sent } = query;
  const request = { kind, range: { from, to }, country: named, parameters: sent };
  return { query, project, request: await lists.plan(project, request, catalog), rendering };
}

export async function runList(
  { query, project, request, rendering }: ListPlan,
  { lists }: ReportSources,
  { signal, reader }: Caller,
): Promise<ListResult> {
  const { kind, country: named, filter, sort, limit, offset } = query;
  const page = { filter, sort, limit, offset, reader };
  const {
    list,
    range,
    total,
    json,
    rows: batches,
  } = query.format === 'json'
    ? { ...(await lists.page(request, page, rendering, signal)), rows: undefined }
    : { ...(await lists.rows(request, page, rendering, signal)), json: [] };
  const { source, fetchedAt, truncated, capped } = list;
  return {
    head: {
      project: projectReference(project),
      range: { from: range.from, to: range.to, country: named },
      source: { kind: source, fetchedAt: isoInstant(fetchedAt), truncated, capped },
      paging: { total, limit: limit ?? total, offset },
    },
    kind,
    json,
    list: [list.file, fetchedAt],
    rows: batches,
    render: rendering.render,
  };
}
