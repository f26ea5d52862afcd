import { createSession } from '../../server/catalog/sessions.ts';
import { createKey } from '../../server/operations/keys.ts';
import { type Answer, NOW, type World } from '../world.ts';

/** Asks the dashboard's own API about projects, in a session of a key of the workspace. */
export async function dashboardOf({ app, catalog }: Pick<World, 'app' | 'catalog'>, workspace = 'acme', now = NOW) {
  const made = { workspace, at: now * 1000 };
  const { id: keyId } = await createKey(catalog, { ...made, name: 'dashboard', projects: null, expiresAt: null });
  const { token } = await createSession(catalog, { ...made, who: { keyId, email: null } });
  return async (path: string): Promise<Answer> => {
    const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: `ordinate=${token}` };
    const answer = await app.inject({ url: `/app/api/projects/${path}`, headers });
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    const body: unknown = isJson ? JSON.parse(answer.body) : answer.body;
    return { status: answer.statusCode, headers: answer.headers, body };
  };
}
