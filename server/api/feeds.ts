import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { CatalogCache } from '../catalog/catalog-cache.ts';
import type { Feed, scopeOfKey } from '../catalog/keys.ts';
import { isReadable } from '../catalog/projects.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { readParameters } from '../presets/parameters.ts';
import { ROUTES } from './api.ts';
import type { Context } from './context.ts';
import type { Credential, Guard } from './plugins/guard.ts';
import { requireAccess } from './principal.ts';
import type { Route } from './route.ts';

/** The request of a feed. */
interface FeedQuestion {
  readonly route: Route;
  readonly params: { readonly id?: string };
  readonly query: Readonly<Record<string, string>>;
}

const SECONDS = 300;
const EXAMPLE = '/projects/Fw7kd/site.csv?period=3m';

/**
 * Parses the path of a feed: an endpoint below the API's root that supports CSV, with its parameters. Throws
 * `invalid_request`.
 */
function readFeedPath(path: string): FeedQuestion {
  const root = 'http://feed.invalid';
  if (!path.startsWith('/') || !URL.canParse(root + path)) {
    throw invalidRequest(`'${path}' is not a path of the API such as ${EXAMPLE}.`);
  }
  const { pathname, searchParams } = new URL(root + path);
  const route = ROUTES.find((candidate) => matches(candidate.path, pathname) !== undefined);
  if (route === undefined || !('format' in route.parameters)) {
    const known = ROUTES.filter(({ parameters }) => 'format' in parameters).map((one) => `${one.path}.csv`);
    throw invalidRequest(`'${pathname}' is no endpoint that answers as CSV; these do: ${known.join(', ')}.`);
  }
  const query: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (!Object.hasOwn(route.parameters, name)) {
      const names = Object.keys(route.parameters).join(', ');
      throw invalidRequest(`${name} is no parameter of ${route.path}; it has ${names}.`);
    }
    if (Object.hasOwn(query, name)) throw invalidRequest(`${name} was sent more than once; send it once.`);
    query[name] = value;
  }
  if ((query['format'] ?? 'csv') !== 'csv') throw invalidRequest('format must be csv: feeds answer nothing else.');
  return { route, params: matches(route.path, pathname)!, query: { ...query, format: 'csv' } };
}

/** The path parameters, if the path matches a route's pattern, with or without `.csv`. */
function matches(pattern: string, pathname: string): { id?: string } | undefined {
  const parts = pathname.replace(/\.csv$/, '').split('/');
  const wanted = pattern.split('/');
  const isSame = parts.length === wanted.length && wanted.every((part, at) => part === ':id' || part === parts[at]);
  if (!isSame) return undefined;
  const id = parts[wanted.indexOf(':id')];
  return id === undefined ? {} : { id };
}

/** Throws an error that explains why the workspace cannot request the path of a new feed. */
export async function checkFeedPath(
  catalog: OpenCatalog,
  { workspace, projects }: Awaited<ReturnType<typeof scopeOfKey>>,
  path: string,
  now: number,
): Promise<void> {
  const { route, params, query } = readFeedPath(path);
  readParameters(route.parameters, query);
  const catalogCache = new CatalogCache(catalog);
  const { id = '' } = params;
  const isKnown = id === '' || (isReadable(projects, id) && (await catalogCache.project(workspace, id)) !== undefined);
  if (!isKnown) throw notFound(`The key can read no project '${id}'.`);
  await route.check?.({ catalogCache }, { workspace, projects, id }, query, now);
}

/** Adds feeds, each at its own address outside the API: `/feeds/TOKEN.csv`. */
export async function addFeeds(
  app: FastifyInstance,
  { guardBy, context }: { guardBy: (credential: Credential) => Guard; context: Context },
): Promise<void> {
  const find = (request: FastifyRequest) => context.catalogCache.feed(tokenOf(request));
  const refusal = () => notFound('There is no such feed, or it was revoked.');
  const handlers = new Map(ROUTES.map((route) => [route, route.handle(context)]));
  await app.register(
    async (feeds) => {
      feeds.addHook('onRequest', guardBy({ via: 'feed', find, refusal }));
      feeds.addHook('onRequest', (_request, reply, done) => {
        // Error responses set no-store.
        reply.cacheControl('private').cacheControl('max-age', SECONDS);
        done();
      });
      feeds.get('/:file', { schema: { hide: true } }, async (request, reply) => {
        const feed: Feed | undefined = await find(request);
        if (feed === undefined) throw refusal();
        const { route, params, query } = readFeedPath(feed.path);
        if (params.id !== undefined) requireAccess(request.principal!, params.id);
        // Replaces what was sent, so that clients cannot add parameters.
        request.params = { ...params, format: 'csv' };
        request.query = query;
        return handlers.get(route)!(request, reply);
      });
    },
    { prefix: '/feeds' },
  );
}

function tokenOf({ params }: FastifyRequest): string {
  return /^(.*)\.csv$/.exec((params as { file: string }).file)?.[1] ?? '';
}
