import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKind } from '../catalog/stored-lists.ts';
import { isoInstant } from '../domain/instants.ts';
import { projectReference, readProject, readTracked } from '../http/guard.ts';
import { country, paging, rangeParameters, readParameters } from '../http/parameters.ts';
import { listRange } from '../http/ranges.ts';
import { day, instant, nullable, object, oneOf } from '../http/schemas.ts';
import type { ListRow } from '../lists/blocks.ts';
import { UnreadableList } from '../lists/list-reader.ts';
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

/** What the rows of an answer are made from besides the list. */
interface RowContext {
  readonly brandTerms: readonly string[];
  readonly idByQuery: ReadonlyMap<string, string>;
}

interface ListAnswer {
  readonly kind: ListKind;
  /** Makes the function that writes rows. */
  readonly renderer: (context: RowContext) => (row: ListRow) => object;
  /** Whether rows depend on the project's state besides the list. */
  readonly dependent: boolean;
}

/** Answers one page of a list. Its rows are JSON already: they are copied, and not made again for each request. */
export async function answerListPage(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ListAnswer,
): Promise<Buffer> {
  reply.type('application/json; charset=utf-8');
  try {
    return await makeListPage(context, request, answer);
  } catch (error) {
    if (!(error instanceof UnreadableList)) throw error;
    // From the start: what the list is made from may have changed, too.
    return makeListPage(context, request, answer);
  }
}

async function makeListPage(
  { catalog, lists, tracked, now }: Context,
  request: FastifyRequest,
  { kind, renderer, dependent }: ListAnswer,
): Promise<Buffer> {
  const read = (found: Project, from: Catalog) => {
    const parameters = readParameters(listParameters, request.query);
    const asked = { kind, range: listRange(parameters, found, now()), country: parameters.country ?? null, parameters };
    return { asked: parameters, plan: lists.plan(found, asked, from) };
  };
  const { project, asked, plan, idByQuery } = dependent
    ? await readTracked(tracked, request, ({ catalog: from, project: found, tracked: { idByQuery: ids } }) => ({
        ...read(found, from),
        idByQuery: ids,
      }))
    : readProject(catalog, request, (found) => ({ ...read(found, catalog), idByQuery: new Map<string, string>() }));
  const rendering = {
    variant: dependent ? String(project.entitiesRevision) : '',
    render: renderer({ brandTerms: project.brandTerms, idByQuery }),
  };
  const reader = request.access?.keyId ?? '';
  const { list, range, json } = await lists.page(plan, { ...asked, reader }, rendering, request.signal);
  const head = JSON.stringify({
    project: projectReference(project),
    range: { from: range.from, to: range.to, country: asked.country ?? null },
    source: {
      kind: list.source,
      fetchedAt: isoInstant(list.fetchedAt),
      truncated: list.truncated,
      capped: list.capped,
    },
    paging: { total: list.rows, limit: asked.limit, offset: asked.offset },
  });
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"${kind}":[`), ...json, Buffer.from(']}')]);
}
