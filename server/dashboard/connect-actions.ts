import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { logError } from '../api/plugins/errors.ts';
import { ARCHIVES, ConnectionRefused, removeConnection } from '../catalog/connections.ts';
import { KnownError, notFound } from '../domain/errors.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS, OWNERS } from '../operations/rights.ts';
import { oneOf } from '../presets/schemas.ts';
import { connectBing, listBing } from '../projects/bing.ts';
import {
  beginConnect,
  CALLBACK_PATH,
  finishConnect,
  listGrantProperties,
  readGrants,
  readSetup,
  requireGrant,
  revokeGrant,
} from '../projects/connect.ts';
import { projectFromGrant } from '../projects/grant-projects.ts';
import type { AddAction, Wanted } from './actions.ts';
import { connectCookie, setConnectCookie } from './connect-cookie.ts';
import { sessionCookie } from './session-cookie.ts';

const MAX_TOP = 5000;

const wantedProject = Type.Object(
  {
    property: Type.String({ minLength: 1, maxLength: 2000 }),
    project: Type.Optional(Type.String()),
    brandTerms: Type.Optional(Type.Array(Type.Unknown())),
    country: Type.Optional(Type.Union([Type.String({ pattern: '^[a-z]{3}$' }), Type.Null()])),
    track: Type.Optional(
      Type.Union([
        Type.Object({ top: Type.Integer({ minimum: 0, maximum: MAX_TOP }) }, { additionalProperties: false }),
        Type.Object({ queries: Type.Array(Type.String(), { maxItems: MAX_TOP }) }, { additionalProperties: false }),
      ]),
    ),
    archive: Type.Optional(oneOf('Archive', ARCHIVES)),
  },
  { additionalProperties: false },
);

const bingKey = Type.Object({ apiKey: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false });

/**
 * `/app/api/connect`: owners connect accounts of Google; owners and admins make projects of their properties, and connect
 * projects to Bing.
 */
export function addConnectActions(add: AddAction, { lists: { providers } }: Context, stores: Stores): void {
  const { settings } = stores;
  const find = ({ workspace, ids }: Wanted) => requireGrant(stores, workspace, ids['grant']!);
  add({
    method: 'GET',
    url: '/connect',
    roles: MANAGERS,
    run: async ({ workspace, at }) => ({
      google: readSetup(settings),
      grants: await readGrants(stores, workspace),
      bing: await listBing(stores, providers, workspace, at),
    }),
  });
  add({
    method: 'POST',
    // An attempt that nobody ends is forgotten.
    creates: false,
    url: '/connect/google',
    roles: OWNERS,
    run: async ({ request, reply, at }) => {
      const { redirectUri, problem } = readSetup(settings);
      if (problem !== null || redirectUri === null) throw new KnownError('conflict', problem ?? '');
      const { url, cookie } = await beginConnect(stores, { redirectUri, sessionToken: sessionCookie(request)!, at });
      reply.header('set-cookie', setConnectCookie(request, cookie)).header('cache-control', 'no-store');
      return { url };
    },
  });
  add({
    method: 'GET',
    url: '/connect/google/:grant/properties',
    roles: MANAGERS,
    find,
    run: async ({ found, at }) => ({ properties: await listGrantProperties(stores, providers, found, at) }),
  });
  add({
    method: 'POST',
    creates: true,
    url: '/connect/google/:grant/projects',
    roles: MANAGERS,
    status: 201,
    body: wantedProject,
    find,
    run: async ({ found: grant, body: wanted, by, at, submission, reply }) => {
      const asked = { grant, wanted, by, at, submission };
      const { id, isNew } = await projectFromGrant(stores, providers, asked);
      if (!isNew) reply.code(200);
      return { project: { id } };
    },
  });
  add({
    method: 'DELETE',
    url: '/connect/google/:grant',
    roles: OWNERS,
    find,
    run: ({ found, by, at }) => revokeGrant(stores, found, { by, at }),
  });
  add({
    method: 'PUT',
    edits: false,
    url: '/projects/:id/bing',
    roles: MANAGERS,
    body: bingKey,
    run: ({ project, body: { apiKey }, by, at }) => connectBing(stores, providers, project!, { apiKey, by, at }),
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/bing',
    roles: MANAGERS,
    run: ({ ids, by, at }) =>
      removeConnection(stores.catalog, ids['id']!, 'bing', { by, at }).catch((error: unknown) => {
        throw error instanceof ConnectionRefused ? notFound(error.message) : error;
      }),
  });
}

/** Where Google sends browsers back to. It answers with a redirect only, whose address has neither code nor state. */
export function addConnectCallback(app: FastifyInstance, { lists: { providers }, now }: Context, stores: Stores): void {
  const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  app.route({
    method: 'GET',
    url: CALLBACK_PATH,
    exposeHeadRoute: false,
    schema: { hide: true },
    handler: async (request, reply) => {
      reply.headers(headers);
      const query = request.query as Readonly<Record<string, unknown>>;
      const text = (name: string): string | undefined => {
        const value = query[name];
        return typeof value === 'string' && value !== '' ? value : undefined;
      };
      const given = { state: text('state'), code: text('code'), cookie: connectCookie(request) };
      const ended = await finishConnect(stores, providers, { ...given, error: text('error') }, now()).catch(
        (error: unknown) => {
          // Google has sent somebody here who needs a page.
          logError(error, request);
          return { error: 'unavailable' } as const;
        },
      );
      const isOwn = 'grant' in ended || ended.error !== 'state';
      if (isOwn) reply.header('set-cookie', setConnectCookie(request, ''));
      const [[name, value] = []] = Object.entries(ended);
      return reply.redirect(`/app/connect?${name}=${value}`, 303);
    },
  });
  app.route({
    method: ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: CALLBACK_PATH,
    schema: { hide: true },
    // Before a body is read.
    onRequest: refuse,
    handler: refuse,
  });
}

async function refuse(): Promise<never> {
  throw notFound('Google sends browsers here, by GET only.');
}
