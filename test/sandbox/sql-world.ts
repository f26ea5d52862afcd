import { createKey } from '../../server/catalog/keys.ts';
import type { World } from '../world.ts';

/** A project, and another one of the workspace, which no statement about the first may show. */
export const FACTS = {
  projects: [
    {
      id: 'Proj1',
      workspace_id: 'acme',
      domain: 'example.com',
      property: 'sc-domain:example.com',
      synced_through: '2026-03-02',
      created_at: '2026-01-01T00:00:00Z',
    },
    {
      id: 'Proj2',
      workspace_id: 'acme',
      domain: 'secret.example',
      property: 'sc-domain:secret.example',
      synced_through: '2026-03-02',
      created_at: '2026-01-01T00:00:00Z',
    },
  ],
  keywords: [
    { project_id: 'Proj1', id: 'Kw001', query: 'red shoes', tracked_since: '2026-01-01T00:00:00Z', tags: '["top"]' },
    { project_id: 'Proj2', id: 'Kw001', query: 'confidential', tracked_since: '2026-01-01T00:00:00Z' },
  ],
  site_daily: [
    { project_id: 'Proj1', date: '2026-03-01', device: 'desktop', clicks: 10, impressions: 100, sum_position: 250 },
    { project_id: 'Proj1', date: '2026-03-02', device: 'mobile', clicks: 5, impressions: 100, sum_position: 50 },
    { project_id: 'Proj2', date: '2026-03-01', device: 'desktop', clicks: 777, impressions: 999, sum_position: 0 },
  ],
  keyword_daily: [
    {
      project_id: 'Proj1',
      keyword_id: 'Kw001',
      date: '2026-03-01',
      device: 'desktop',
      clicks: 3,
      impressions: 30,
      sum_position: 30,
    },
  ],
};

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: {
    error?: { code: string; message: string };
    rows?: object[];
    columns?: object[];
    truncated?: boolean;
  };
}

/** Sends statements with a key of its own. */
export async function poster(world: World, scope: 'sql' | null = 'sql', projects: string[] | null = null) {
  const name = `sql ${Math.random()}`;
  const made = await createKey(world.catalog, { workspace: 'acme', name, by: null, at: 0, scope, projects });
  return async (body: object, project = 'Proj1'): Promise<Answer> => {
    const response = await world.app.inject({
      method: 'POST',
      url: `/api/v1/projects/${project}/sql`,
      headers: { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    return { status: response.statusCode, text: response.body, body: JSON.parse(response.body) as Answer['body'] };
  };
}

/** A server with SQL. Statements that should end have time enough, also beside much other work. */
export const on = { environment: { ORDINATE_SQL: 'on' }, limits: { statement: 60_000 } };
