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
  selectionParameters,
  wantedRows,
} from './parameters.ts';
import { listRange } from './ranges.ts';
import { type Caller, type ProjectQuery, projectReference, type ReportSources } from './report.ts';

/** What the two list reports, pages and queries, have in common. */
const common = { ...rangeParameters, country, ...paging(1000, 25_000), ...formatParameters };
export const listParameters = {
  pages: { ...common, ...selectionParameters('pages') },
  queries: { ...common, ...selectionParameters('queries') },
};

interface ListQuery extends Range, Selection {
  readonly kind: ListKind;
  readonly country: string | null;
  /** The range as it was sent: all pages of one sequence have it in common. */
  readonly sent: RangeParameters;
  /** Null: all of them. */
  readonly limit: number | null;
  readonly offset: number;
}

/** Whether a result may be so long that only a few such should be under way. */
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
  /** What the answer says before its rows. */
  readonly head: {
    readonly project: { readonly id: string; readonly domain: string };
    readonly range: Range & { readonly country: string | null };
    readonly source: object;
    readonly paging: { readonly total: number; readonly limit: number; readonly offset: number };
  };
  /** What the rows are called. */
  readonly kind: ListKind;
  /** The rows as JSON, separated by commas, in parts: they are stored like this, and copied. */
  readonly json: readonly Buffer[];
  /** Tells lists apart that answer the same question one after the other. */
  readonly list: readonly [file: string, fetchedAt: number];
  /** The rows themselves, read while they are taken, for formats other than JSON. */
  readonly rows: AsyncIterable<readonly ListRow[]> | undefined;
  readonly render: Rendering['render'];
}

/** Which list a result was read from: another one may answer the same question later. */
export function listVersion({ list }: ListResult): string {
  return list.join(' ');
}

export function parseList(kind: ListKind, sent: unknown, project: Project, now: number): ListQuery {
  const values = readParameters(listParameters[kind], sent);
  const { country: named = null, filter, sort, limit, offset, from, to, period } = values;
  const range = { from, to, period };
  const days = listRange(range, project, now);
  return { kind, ...days, country: named, sent: range, filter, sort, limit: wantedRows(sent, limit), offset };
}

export async function planList(
  query: ListPlan['query'],
  { catalog, project }: { catalog: Catalog; project: Project },
  { lists }: ReportSources,
  rendering: Rendering,
): Promise<ListPlan> {
  const { kind, from, to, country: named, sent } = query;
  const asked = { kind, range: { from, to }, country: named, parameters: sent };
  return { query, project, request: await lists.plan(project, asked, catalog), rendering };
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
