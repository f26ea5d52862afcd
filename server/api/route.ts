import type { FastifyInstance, FastifyRequest, FastifySchema, RouteHandlerMethod } from 'fastify';
import type { TSchema } from 'typebox';
import { invalidRequest } from '../domain/errors.ts';
import { FORMATS } from '../domain/formats.ts';
import { querySchema } from '../presets/parameters.ts';
import type { AnyPreset, Documented } from '../presets/preset.ts';
import { projectPath } from '../presets/schemas.ts';
import { answerWith, type Handler } from './answer.ts';
import type { Context } from './context.ts';
import { responsesOf } from './responses.ts';

/** An endpoint: a preset, or what is documented like one. */
export interface Route extends Omit<Documented, 'answer' | 'content' | 'errors' | 'examples'> {
  /** Path parameters, if it has any besides the project id. */
  readonly params?: TSchema;
  /** Whether it answers POST only. */
  readonly onlyBody?: boolean;
  /** Whether its responses are files, which have their own rate limit. */
  readonly sendsFiles?: boolean;
  readonly response: object;
  readonly examples?: Documented['examples'];
  /** Throws what a request would throw for its parameters. */
  readonly check?: AnyPreset['check'];
  readonly handle: Handler;
}

/** The endpoint of a preset. */
export function routeOf(preset: AnyPreset): Route {
  return { ...preset, response: responsesOf(preset), handle: answerWith(preset) };
}

/** How a path ends that names a format, for the router: one route for all formats is added in a fifth of the time. */
const FORMAT_ENDING = `.:format(${FORMATS.join('|')})`;

/** The pattern of the path that a request matched, with its format; undefined if it matched none. */
export function patternOf({ params, routeOptions }: FastifyRequest): string | undefined {
  // A request that could not be routed has no options.
  const { url } = (routeOptions ?? {}) as { readonly url?: string };
  return url?.replace(/:format\(.+\)$/, () => (params as { readonly format: string }).format);
}

/**
 * Adds an endpoint, also at the path of each format. Presets parse the parameters, not Fastify, so that an unknown project is
 * a 404 even where a parameter is wrong. @param hide leaves it out of the documentation
 */
export function addRoute(api: FastifyInstance, route: Route, context: Context, { hide = false } = {}): void {
  const schema: FastifySchema = hide ? { hide } : documentationOf(route);
  const handler: RouteHandlerMethod = route.handle(context);
  const hasFormats = 'format' in route.parameters;
  if (route.onlyBody !== true) {
    api.route({
      method: 'GET',
      url: route.path,
      config: { sendsFiles: route.sendsFiles ?? false },
      schema,
      handler,
    });
  }
  // The dashboard asks by GET.
  if (route.body !== undefined && !hide) addBodyEndpoint(api, route, handler, schema);
  if (!hasFormats) return;
  api.route({ method: 'GET', url: route.path + FORMAT_ENDING, schema: { hide: true }, handler });
}

/** The longest body, in bytes. */
const MAX_BODY = 400_000;

/** Answers POST with a body as GET with the parameter `q`: the only requests with a body that the API reads. */
function addBodyEndpoint(
  api: FastifyInstance,
  { path, operation, parameters, body }: Route,
  handler: RouteHandlerMethod,
  schema: FastifySchema,
): void {
  void api.register(async (posts) => {
    posts.removeAllContentTypeParsers();
    posts.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY }, (_request, text, done) =>
      done(null, text),
    );
    posts.addHook('preHandler', async (request) => {
      const { q, ...others } = request.query as Readonly<Record<string, unknown>>;
      if (q !== undefined) throw invalidRequest('q is for GET; POST has the question in its body.');
      request.query = { ...others, q: request.body ?? '' };
    });
    for (const ending of 'format' in parameters ? ['', FORMAT_ENDING] : ['']) {
      posts.route({
        method: 'POST',
        url: path + ending,
        config: { takesBody: true },
        schema: ending === '' ? postOf(schema, operation, body!) : { hide: true },
        handler,
      });
    }
  });
}

/** The documentation of POST, from that of GET. */
function postOf(schema: FastifySchema, operation: string, body: TSchema): FastifySchema {
  const { properties } = (schema.querystring ?? { properties: {} }) as { properties: Record<string, TSchema> };
  const { q: _, ...others } = properties;
  const { 304: _unchanged, ...response } = schema.response as Record<string, unknown>;
  return {
    ...schema,
    operationId: operation.replace('get', 'post'),
    querystring: { type: 'object', properties: others },
    body,
    response,
  };
}

function documentationOf({
  operation,
  parameters,
  path,
  params,
  tag,
  summary,
  description,
  response,
}: Route): FastifySchema {
  return {
    operationId: operation,
    tags: [tag],
    summary,
    description,
    security: [{ key: [] }],
    ...(path.includes(':id') ? { params: params ?? projectPath } : {}),
    ...(Object.keys(parameters).length > 0 ? { querystring: querySchema(parameters) } : {}),
    response,
  };
}
