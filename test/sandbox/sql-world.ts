import { createKey } from '../../server/operations/keys.ts';
import { readTables } from '../rows.ts';
import type { World } from '../world.ts';

/** A project, and another one of the workspace, which no statement about the first may show. */
export const FACTS = readTables('sql');

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
  const made = await createKey(world.catalog, { workspace: 'acme', name, at: 0, scope, projects });
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
