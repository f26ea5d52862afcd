import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import { unavailable } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { projectReference, readProject } from '../http/guard.ts';
import { country, paging, rangeParameters, readParameters } from '../http/parameters.ts';
import { listRange } from '../http/ranges.ts';
import { day, instant, nullable, object, oneOf } from '../http/schemas.ts';
import type { List, ListKind, ListRow } from '../lists/lists.ts';
import type { Context } from './context.ts';

/** What the two list endpoints, pages and queries, have in common. */
export const listParameters = { ...rangeParameters, country, ...paging(1000, 25_000) };

export const listRangeSchema = object({ from: day, to: day, country: nullable(Type.String()) });

export const listSource = object({
  kind: oneOf(['gsc', 'bigquery'], "gsc: the search engine's reporting API; bigquery: a data warehouse."),
  fetchedAt: instant,
  truncated: Type.Boolean({ description: 'There were more rows than the list holds.' }),
  capped: Type.Boolean({ description: 'The list is as long as its source may make it.' }),
});

const TABLE: Record<ListKind, FactTable> = { pages: 'page_daily', queries: 'query_daily' };

/** One page of a list, and the parts of the answer that both endpoints share. */
export async function readListPage(context: Context, request: FastifyRequest, kind: ListKind) {
  const { catalog, lists, tracked, now } = context;
  const read = readProject(catalog, request, (found) => {
    const asked = readParameters(listParameters, request.query);
    const range = listRange(asked, found, now());
    const coverage = readCoverage(catalog, found.id);
    if (coverage.page_daily === undefined && coverage.query_daily === undefined) {
      throw unavailable(
        `There is no source of ${kind}: the project is connected to no provider and has no loaded lists.`,
      );
    }
    return {
      asked,
      range,
      files: filesOf(catalog, found.id, TABLE[kind], range),
      idByQuery: kind === 'queries' ? tracked.get(found).idByQuery : new Map<string, string>(),
    };
  });
  const { project, asked, range, files } = read;
  const wanted = {
    project: project.id,
    revision: project.revision,
    kind,
    range,
    country: asked.country ?? null,
    files,
  };
  const { list, rows }: { list: List; rows: ListRow[] } = await lists.rows(wanted, asked, request.signal);
  return {
    rows,
    brandTerms: project.brandTerms,
    idByQuery: read.idByQuery,
    head: {
      project: projectReference(project),
      range: { ...range, country: asked.country ?? null },
      source: {
        kind: 'bigquery' as const,
        fetchedAt: isoInstant(list.fetchedAt),
        truncated: list.truncated,
        capped: list.capped,
      },
      paging: { total: list.total, limit: asked.limit, offset: asked.offset },
    },
  };
}
