import type { Catalog } from '../catalog/catalog.ts';
import { connectionsOf } from '../catalog/connections.ts';

interface Reading {
  /** What the reporting API tells, in the middle of a sentence. */
  readonly what: string;
  /** What the last run left; undefined before the first one. */
  readonly last: { readonly reason: string | null } | undefined;
  /** The reason before the first run. */
  readonly notYet: string;
}

/** Why something that background jobs read from the reporting API is not known, or not as of today; null if it is. */
export async function reasonOfReading(
  catalog: Catalog,
  project: string,
  { what, last, notYet }: Reading,
): Promise<string | null> {
  const connections = await connectionsOf(catalog, project);
  if (connections.some(({ kind }) => kind === 'search-console')) return last === undefined ? notYet : last.reason;
  return `The project has no connection to the reporting API, which tells ${what}: connect it in the dashboard, or with ordinate connections set.`;
}
