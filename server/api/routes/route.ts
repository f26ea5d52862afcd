import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { querySchema, ROW_FORMATS } from '../../reports/parameters.ts';
import type { AnyParser, Parser } from '../../reports/report.ts';
import type { Answered } from '../answer.ts';
import type { Tag } from '../plugins/documentation.ts';
import { withRowFormats } from '../row-responses.ts';
import { projectPath } from '../schemas.ts';
import type { Context } from './context.ts';
import { withExamples } from './examples.ts';

/** An endpoint: its documentation and its handler. */
export interface Route {
  readonly path: string;
  /** Path parameters, if there are others than the project id. */
  readonly params?: TSchema;
  /** The operation name for generated clients, and the parameters. `parse` validates them together. */
  readonly report: Pick<Parser<unknown>, 'operation' | 'parameters'> & Partial<AnyParser<unknown>>;
  /** Heading in the documentation. */
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly response: object;
  readonly handle: (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Answered;
}

/** Adds an endpoint to the API. Reports parse the parameters, so that an unknown project takes precedence over an invalid parameter. */
export function addRoute(api: FastifyInstance, route: Route, context: Context, { hide = false } = {}): void {
  const handler = route.handle(context);
  const hasFormats = 'format' in route.report.parameters;
  api.route({
    method: 'GET',
    url: route.path,
    schema: hide ? { hide } : documentationOf(route),
    handler,
  });
  if (!hasFormats) return;
  for (const format of ['json', ...ROW_FORMATS] as const) {
    api.route({ method: 'GET', url: `${route.path}.${format}`, config: { format }, schema: { hide: true }, handler });
  }
}

function documentationOf({ report, path, params, tag, summary, description, response }: Route): FastifySchema {
  const { operation, parameters } = report;
  return {
    operationId: operation,
    tags: [tag],
    summary,
    description,
    security: [{ key: [] }],
    ...(path.includes(':id') ? { params: params ?? projectPath } : {}),
    ...(Object.keys(parameters).length > 0 ? { querystring: querySchema(parameters) } : {}),
    response: withExamples(operation, 'format' in parameters ? withRowFormats(response) : response),
  };
}
