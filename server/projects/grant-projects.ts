import type { Submission } from '../catalog/audit.ts';
import { type Archive, connectionsOf, type Grant } from '../catalog/connections.ts';
import { findAnyProject } from '../catalog/projects.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { setConnection } from '../providers/connections.ts';
import { toKnownError } from '../providers/failures.ts';
import { GOOGLE_ERRORS } from '../providers/google/failures.ts';
import type { Providers } from '../providers/providers.ts';
import { readTopQueries } from '../providers/search-console/properties.ts';
import { checkBrandTerms } from './brand-terms.ts';
import { connectionOf, readGrantProperties } from './connect.ts';
import { checkQueries } from './new-keywords.ts';
import { addProject } from './projects.ts';

/** What an owner or admin asks for: a new project of a property, or `project` to connect an existing one. */
export interface GrantProject {
  readonly property: string;
  readonly project?: string;
  readonly brandTerms?: readonly unknown[];
  /** Lower-case alpha-3, or null for all. */
  readonly country?: string | null;
  readonly track?: { readonly top: number } | { readonly queries: readonly string[] };
  readonly archive?: Archive;
}

/**
 * Creates a project that reads through a grant, or connects an existing one. Throws `invalid_request` for a property that
 * the account cannot read, `not_found` for a project that the workspace does not have, and `conflict` for a second project of
 * the same property, unless it is one of another country by name.
 */
export async function projectFromGrant(
  stores: Stores,
  providers: Providers,
  {
    grant,
    wanted,
    by,
    at,
    submission,
  }: {
    readonly grant: Grant;
    readonly wanted: GrantProject;
    readonly by: string;
    readonly at: Microseconds;
    readonly submission: Submission;
  },
): Promise<{ id: string; isNew: boolean }> {
  const { property, country = null, archive } = wanted;
  const brandTerms = checkBrandTerms(wanted.brandTerms ?? [], 'brandTerms');
  const { workspace } = grant;
  const connection = connectionOf(grant, archive);
  const given =
    wanted.track !== undefined && 'queries' in wanted.track
      ? checkQueries(wanted.track.queries, 'track.queries')
      : undefined;
  if (wanted.project !== undefined) await requireOwn(stores, { workspace, id: wanted.project, property });
  const sites = await readGrantProperties(providers, grant);
  if (!sites.some((site) => site.property === property)) {
    throw invalidRequest(`'property' must be one that the account can read; '${property.slice(0, 200)}' is not.`);
  }
  if (wanted.project !== undefined) {
    const id = wanted.project;
    await stores.catalog.transaction(async (tx) => {
      const [before] = (await connectionsOf(tx, id)).filter(({ kind }) => kind === connection.kind);
      await setConnection(tx, id, { ...connection, archive: archive ?? before?.archive ?? connection.archive }, at, by);
    });
    return { id, isNew: false };
  }
  const top = wanted.track !== undefined && 'top' in wanted.track ? wanted.track.top : 0;
  const now = at / 1000;
  const found =
    top === 0
      ? []
      : await readTopQueries(providers, connection, { property, country, count: top, now }).catch((error: unknown) => {
          throw toKnownError(error, GOOGLE_ERRORS);
        });
  const onlyOf = wanted.country === undefined ? 'property' : 'country';
  const project = { workspace, property, connection, brandTerms, country, name: null, onlyOf } as const;
  const tracked = { queries: given ?? found, source: given === undefined ? 'suggested' : 'manual' } as const;
  const { id } = await addProject(
    stores.catalog,
    { ...project, ...tracked },
    { by, at: toMicroseconds(now), submission },
  );
  return { id, isNew: true };
}

async function requireOwn(
  { catalog }: Stores,
  { workspace, id, property }: { workspace: string; id: string; property: string },
): Promise<void> {
  const project = await findAnyProject(catalog, id);
  if (project?.workspaceId !== workspace) throw notFound('The workspace has no such project.');
  if (project.property !== property) {
    throw invalidRequest(`'project' must be one of the property '${property.slice(0, 200)}'; this one is of another.`);
  }
}
