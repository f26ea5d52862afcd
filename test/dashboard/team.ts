import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { createLink } from '../../server/catalog/sessions.ts';
import type { Role } from '../../server/catalog/workspaces.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { createKey } from '../../server/operations/keys.ts';
import { makeWorld, NOW, PROJECT, type Tables, WORKSPACE, type World } from '../world.ts';

export type Who = Role | 'other' | 'key' | 'stranger';

/**
 * A server with a member of each role, one of another workspace (`other`), and a session of a key. `send` sends a request
 * to `/app/api` as the page of one of them does.
 */
export async function makeTeam(t: Test, snapshot: Tables = {}, environment: NodeJS.ProcessEnv = {}) {
  const clock = { at: NOW };
  const world = await makeWorld(
    t,
    {
      workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other', name: 'Other' }],
      projects: [PROJECT, { ...PROJECT, id: 'Proj2' }, { ...PROJECT, id: 'Other', workspace_id: 'other' }],
      ...snapshot,
    },
    { now: () => clock.at, environment },
  );
  const { app, catalog } = world;
  const cookies = new Map<Who, string>();
  const signIn = async (who: Who, secret: string): Promise<void> => {
    const headers = { authorization: `Bearer ${secret}`, 'sec-fetch-site': 'same-origin', host: 'localhost' };
    const response = await app.inject({ method: 'POST', url: '/app/session', headers });
    cookies.set(who, String(response.headers['set-cookie']).split(';')[0]!);
  };
  for (const who of ['owner', 'admin', 'member', 'other'] as const) {
    const [workspace, role] = who === 'other' ? (['other', 'owner'] as const) : (['acme', who] as const);
    await addMember(catalog, workspace, `${who}@acme.example`, role);
    const link = { workspace, who: { keyId: null, email: `${who}@acme.example` }, at: clock.at * 1000 };
    await signIn(who, (await createLink(catalog, link)).token);
  }
  const { id: keyId } = await createKey(catalog, { workspace: 'acme', name: 'key', at: 1 });
  // By a link, because the last use of a key is stored a second later, in the middle of what is told.
  const ofKey = { workspace: 'acme', who: { keyId, email: null }, at: clock.at * 1000 };
  await signIn('key', (await createLink(catalog, ofKey)).token);

  /** Who changes something has read it before. */
  const versionOf = async (path: string, headers: Record<string, string>): Promise<Record<string, string>> => {
    const read = await app.inject({ url: `/app/api${path}`, headers });
    let { version } = read.statusCode === 200 ? read.json<{ version?: string }>() : {};
    const [, project, id] = /^(.*)\/keywords\/(\w+)$/.exec(path) ?? [];
    if (read.statusCode === 404 && id !== undefined) {
      const archived = await app.inject({ url: `/app/api${project}/archived-keywords`, headers });
      const { keywords = [] } = archived.json<{ keywords?: { id: string; version: string }[] }>();
      version = keywords.find((one) => one.id === id)?.version;
    }
    return version === undefined ? {} : { 'if-match': `"${version}"` };
  };
  const send = async (
    who: Who,
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object | string,
    sent: Readonly<Record<string, string>> = {},
  ) => {
    const cookie = cookies.get(who);
    const headers = {
      'sec-fetch-site': 'same-origin',
      host: 'localhost',
      ...(cookie === undefined ? {} : { cookie }),
      ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
      // Each form has a key of its own.
      ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
    };
    if (method === 'PUT' || method === 'PATCH') Object.assign(headers, await versionOf(path, headers));
    Object.assign(headers, sent);
    const payload = typeof body === 'object' ? JSON.stringify(body) : body;
    const response = await app.inject({
      ...{ method, url: `/app/api${path}`, headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const text = response.body;
    // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
    const answer: any =
      text === '' ? null : String(response.headers['content-type']).includes('json') ? JSON.parse(text) : text;
    return {
      status: response.statusCode,
      headers: response.headers,
      body: answer,
      code: answer?.error?.code,
      message: answer?.error?.message ?? '',
    };
  };
  /** What `/api/v1` answers. */
  const read = async (path: string) => {
    const response = await app.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${world.key}` } });
    // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
    return { body: response.json<any>() };
  };
  return { ...world, clock, cookies, send, read };
}

/** The entries of the audit trail with an action, newest first. */
export async function audited(catalog: World['catalog'], action: string) {
  type Entry = { actor: string; subject: string; details: string };
  const rows = await catalog.statements.all<Entry>('audit.newest', { workspace: 'acme', action, since: 0, limit: 99 });
  return rows.map(({ actor, subject, details }) => ({ actor, subject, details: JSON.parse(details) as object }));
}
