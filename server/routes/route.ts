import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Tag } from '../http/documentation.ts';
import { type Parameters, querySchema } from '../http/parameters.ts';
import { projectPath } from '../http/schemas.ts';
import type { Context } from './context.ts';
import { withExamples } from './examples.ts';

/** An answer of the schema, JSON bytes of one, a reply that sends them, or nothing when they have been sent. */
type Answer<Schema extends TSchema> = Static<Schema> | Promise<Static<Schema> | Buffer | FastifyReply> | undefined;

/** One endpoint: what documents it, and the function that answers it. */
export interface Route<Schema extends TSchema = TSchema> {
  readonly path: string;
  /** Name of the operation for generated clients. */
  readonly operation: string;
  /** Heading in the documentation. */
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly parameters: Parameters;
  readonly response: object;
  readonly handle: (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Answer<Schema>;
}

/** Adds an endpoint to the API. Parameters are read by the handler: an unknown project goes before a bad parameter. */
export function addRoute(app: FastifyInstance, route: Route, context: Context): void {
  app.route({
    method: 'GET',
    url: route.path,
    schema: {
      operationId: route.operation,
      tags: [route.tag],
      summary: route.summary,
      description: route.description,
      security: [{ key: [] }],
      ...(route.path.includes(':id') ? { params: projectPath } : {}),
      ...(Object.keys(route.parameters).length > 0 ? { querystring: querySchema(route.parameters) } : {}),
      response: withExamples(route.operation, route.response),
    },
    handler: route.handle(context),
  });
}
