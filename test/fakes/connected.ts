import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import type { Connection } from '../../server/catalog/connections.ts';
import { setConnection } from '../../server/providers/connections.ts';
import { makeWorld, NOW, PROJECT, type Row, type Tables, temporaryFolder } from '../world.ts';
import { fakeSearchConsole } from './search-console.ts';

/** What no log and no answer may have. */
export const SECRETS = ['1//refresh-token-of-the-tests', 'client-secret-of-the-tests', 'ya29.', 'BEGIN PRIVATE KEY'];

/** Writes a credentials file of an authorised user, or other JSON; returns its path. */
export function credentialsFile(t: Test, content: object = {}): string {
  const path = join(temporaryFolder(t), 'credentials.json');
  const client = { client_id: 'client-of-the-tests.apps.example', client_secret: SECRETS[1] };
  const user = { type: 'authorized_user', ...client, refresh_token: SECRETS[0] };
  writeFileSync(path, JSON.stringify({ ...user, ...content }));
  return path;
}

export async function connect(catalog: Catalog, connection: Partial<Connection>, project = 'Proj1'): Promise<void> {
  const addresses = { kind: 'search-console', credentials: null, endpoint: null, tokenEndpoint: null } as const;
  const all = { ...addresses, dataset: null, location: null, grant: null, archive: 'queries,pages' } as const;
  await setConnection(catalog, project, { ...all, ...connection }, 0);
}

export type ConnectedWorld = Awaited<ReturnType<typeof connectedWorld>>;

/** A server with a project that only has a connection to the fake reporting API. */
export async function connectedWorld(
  t: Test,
  {
    project = {},
    tables = {},
    environment = {},
    measured = false,
  }: { project?: Row; tables?: Tables; environment?: NodeJS.ProcessEnv; measured?: boolean } = {},
) {
  const google = await fakeSearchConsole(t);
  // The time of the server, in milliseconds.
  const clock = { clock: NOW };
  const now = () => clock.clock;
  const all = { ORDINATE_LISTS_WAIT_SECONDS: '60', ORDINATE_PROVIDER_SECONDS: '60', ...environment };
  const rows = { projects: [{ ...PROJECT, ...project }], ...tables };
  const world = await makeWorld(t, rows, { now, measured, environment: all });
  const { url: endpoint, tokenUrl: tokenEndpoint } = google;
  await connect(world.catalog, { credentials: credentialsFile(t), endpoint, tokenEndpoint });
  /** Lines of the log about fetches. */
  const fetches = (): Readonly<Record<string, unknown>>[] =>
    world.log.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => 'outcome' in line);
  return Object.assign(clock, { ...world, now, google, fetches });
}
