import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { querySchema, ROW_FORMATS } from '../../reports/parameters.ts';
import type { Parser } from '../../reports/report.ts';
import type { Answered } from '../answer.ts';
import type { Tag } from '../plugins/documentation.ts';
import { projectPath, withRowFormats } from '../schemas.ts';
import type { Context } from './context.ts';
import { withExamples } from './examples.ts';

/** One endpoint: what documents it, and the function that answers it. */
export interface Route {
  readonly path: string;
  /** Of the path, where it has others than the project. */
  readonly params?: TSchema;
  /** The report that is answered with: its name for generated clients, and its parameters. */
  readonly report: Pick<Parser<unknown>, 'operation' | 'parameters'> & Partial<Pick<Parser<unknown>, 'parse'>>;
  /** Heading in the documentation. */
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly response: object;
  readonly handle: (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Answered;
}

/** Adds an endpoint to the API. Reports parse the parameters themselves: an unknown project goes before a bad parameter. */
export function addRoute(api: FastifyInstance, route: Route, context: Context): void {
  const { operation, parameters } = route.report;
  const handler = route.handle(context);
  const hasFormats = 'format' in parameters;
  api.route({
    method: 'GET',
    url: route.path,
    schema: {
      operationId: operation,
      tags: [route.tag],
      summary: route.summary,
      description: route.description,
      security: [{ key: [] }],
      ...(route.path.includes(':id') ? { params: route.params ?? projectPath } : {}),
      ...(Object.keys(parameters).length > 0 ? { querystring: querySchema(parameters) } : {}),
      response: withExamples(operation, hasFormats ? withRowFormats(route.response) : route.response),
    },
    handler,
  });
  if (!hasFormats) return;
  for (const format of ['json', ...ROW_FORMATS] as const) {
    api.route({ method: 'GET', url: `${route.path}.${format}`, config: { format }, schema: { hide: true }, handler });
  }
}
