import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKind } from '../catalog/stored-lists.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Range, RangeParameters } from '../domain/range.ts';
import type { Rendering } from '../lists/blocks.ts';
import type { ListRequest } from '../lists/list-request.ts';
import { country, paging, rangeParameters, readParameters } from './parameters.ts';
import { listRange } from './ranges.ts';
import { type Caller, projectReference, type ReportSources } from './report.ts';

/** What the two list reports, pages and queries, have in common. */
export const listParameters = { ...rangeParameters, country, ...paging(1000, 25_000) };

interface ListQuery extends Range {
  readonly kind: ListKind;
  readonly country: string | null;
  /** The range as it was sent: all pages of one sequence have it in common. */
  readonly sent: RangeParameters;
  readonly limit: number;
  readonly offset: number;
}

interface ListPlan {
  readonly query: ListQuery;
  readonly project: Project;
  readonly request: ListRequest;
  readonly rendering: Rendering;
}

export interface ListResult {
  /** What the answer says before its rows. */
  readonly head: object;
  /** What the rows are called. */
  readonly kind: ListKind;
  /** The rows as JSON, separated by commas, in parts: they are stored like this, and copied. */
  readonly json: readonly Buffer[];
}

export function parseList(kind: ListKind, sent: unknown, project: Project, now: number): ListQuery {
  const { country: named = null, limit, offset, ...range } = readParameters(listParameters, sent);
  const days = listRange(range, project, now);
  return { kind, ...days, country: named, sent: range, limit, offset };
}

export async function planList(
  query: ListQuery,
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
  const { kind, country: named, limit, offset } = query;
  const { list, range, json } = await lists.page(request, { limit, offset, reader }, rendering, signal);
  const { source, fetchedAt, truncated, capped, rows } = list;
  return {
    head: {
      project: projectReference(project),
      range: { from: range.from, to: range.to, country: named },
      source: { kind: source, fetchedAt: isoInstant(fetchedAt), truncated, capped },
      paging: { total: rows, limit, offset },
    },
    kind,
    json,
  };
}
