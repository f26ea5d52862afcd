import type { FastifyInstance, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { FORMATS } from '../../domain/formats.ts';
import { querySchema } from '../../reports/parameters.ts';
import type { Report, ReportQuery } from '../../reports/report.ts';
import type { Handler } from '../answer.ts';
import type { Tag } from '../plugins/documentation.ts';
import { withRowFormats } from '../row-responses.ts';
import { projectPath } from '../schemas.ts';
import type { Context } from './context.ts';
import { withExamples } from './examples.ts';

type AnyReport = Report<never, ReportQuery, unknown>;

/** An endpoint without documentation. */
export interface Endpoint {
  readonly path: string;
  /** The operation name for generated clients, and the parameters. `check` validates them together. */
  readonly report: Pick<AnyReport, 'operation' | 'parameters'> & Partial<Pick<AnyReport, 'check'>>;
  /** Whether its responses are files, which have their own rate limit. */
  readonly sendsFiles?: boolean;
  readonly handle: Handler;
}

/** An endpoint with its documentation. */
export interface Route extends Endpoint {
  /** Path parameters, if it has any besides the project id. */
  readonly params?: TSchema;
  /** Heading in the documentation. */
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly response: object;
  /** Requests for the examples in the documentation, by response status; `examples.json` has the responses. */
  readonly examples?: Readonly<Record<number, string>>;
}

/** Adds an endpoint. Reports parse the parameters, so that an unknown project precedes an invalid parameter. */
export function addRoute(api: FastifyInstance, route: Route, context: Context, { hide = false } = {}): void {
  addEndpoint(api, route, context, hide ? undefined : documentationOf(route));
}

/** Adds an endpoint, also at the path of each format; hidden without a schema. */
export function addEndpoint(
  api: FastifyInstance,
  route: Endpoint,
  context: Context,
  schema: FastifySchema = { hide: true },
): void {
  const handler = route.handle(context);
  const hasFormats = 'format' in route.report.parameters;
  api.route({
    method: 'GET',
    url: route.path,
    config: { sendsFiles: route.sendsFiles ?? false },
    schema,
    handler,
  });
  if (!hasFormats) return;
  for (const format of FORMATS) {
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
