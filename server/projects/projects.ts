import { actorOf, type Creator, createOnce, recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Connection } from '../catalog/connections.ts';
import { findProjectsOfProperty, newProjectId, requireProject } from '../catalog/projects.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import type { BrandTerm } from '../domain/brand-terms.ts';
import { KnownError } from '../domain/errors.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { domainOf } from '../domain/properties.ts';
import { type EntityEdit, editEntities, entityRow, type KeywordRow } from '../load/entities.ts';
import type { Stores } from '../load/stores.ts';
import { setConnection } from '../providers/connections.ts';
import type { Providers } from '../providers/providers.ts';
import { readTopQueries } from '../providers/search-console/properties.ts';
import { brandRow } from './brand-terms.ts';
import { findProperty } from './find-property.ts';
import { newKeywords } from './new-keywords.ts';

export interface NewProject {
  readonly workspace: string;
  /** The name of the provider, or a similar text. */
  readonly property: string;
  readonly connection: Connection;
  readonly brandTerms: readonly BrandTerm[];
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  /** Display name instead of the property's domain. */
  readonly name: string | null;
}

export interface CreatedProject {
  readonly id: string;
  readonly workspace: string;
  readonly property: string;
  readonly domain: string;
  readonly trackedKeywords: number;
  /** Existing projects of the workspace with the same property. */
  readonly others: readonly string[];
}

interface Running {
  /** Milliseconds. */
  readonly now: number;
  readonly report: (step: string) => void;
}

/** Creates a project with a connection to a property that the credentials can read. It has no data yet. */
export async function createProject(
  stores: Stores,
  providers: Providers,
  { trackTop, ...given }: NewProject & { /** Number of queries with the most clicks to track. */ trackTop: number },
  { now, report }: Running,
): Promise<CreatedProject> {
  const { workspace, connection, country } = given;
  await requireWorkspace(stores.catalog, workspace);
  report('reading the properties');
  const property = await findProperty(providers, connection, given.property);
  if (trackTop > 0) report('reading the queries with the most clicks');
  const queries =
    trackTop === 0 ? [] : await readTopQueries(providers, connection, { property, country, count: trackTop, now });
  const author = { by: null, at: toMicroseconds(now) };
  return addProject(stores.catalog, { ...given, property, queries, source: 'suggested' }, author);
}

/** The queries that a new project tracks. */
interface Tracked {
  readonly queries: readonly string[];
  readonly source: KeywordRow['source'];
}

type Added = NewProject & Tracked & { readonly onlyOf?: 'property' | 'country' };

function exists(property: string, id: string): KnownError {
  const message = `The workspace has the project '${id}' of '${property.slice(0, 200)}' already; send its id as 'project' to connect it.`;
  return new KnownError('conflict', message);
}

/**
 * Adds a project with a connection to exactly this property.
 * @param onlyOf throws `conflict` if the workspace has one of the same property, or of the same property and country
 */
export function addProject(
  catalog: Catalog,
  { workspace, property, connection, brandTerms, country, name, queries, source, onlyOf }: Added,
  { by, at, submission }: Omit<Creator, 'by'> & { readonly by: string | null },
): Promise<CreatedProject> {
  const domain = name ?? domainOf(property) ?? property;
  const add = async ({ tx, put }: EntityEdit): Promise<CreatedProject> => {
    const same = await findProjectsOfProperty(tx, workspace, property);
    const existing = same.find((project) => onlyOf === 'property' || project.country === country);
    if (onlyOf !== undefined && existing !== undefined) throw exists(property, existing.id);
    const others = same.map((project) => project.id);
    const id = await newProjectId(tx);
    const row = {
      id,
      workspace_id: workspace,
      domain,
      property,
      country,
      language: null,
      ...brandRow(brandTerms),
      sync_status: 'pending',
      last_synced_at: null,
      synced_through: null,
      provisional_after: null,
      history_backfilling: 0,
      setup_finished: 1,
      created_at: at,
    };
    await put('projects', [row]);
    const actor = actorOf(by);
    await recordAudit(tx, { at, workspace, actor, action: 'project.created', subject: id, details: { property } });
    await setConnection(tx, id, connection, at, by);
    const { rows } = newKeywords([], queries, { project: id, source, at });
    await put('keywords', rows);
    return { id, workspace, property, domain, trackedKeywords: rows.length, others };
  };
  return editEntities(catalog, (edit) => createOnce(edit.tx, submission, () => add(edit)));
}

/** Changes of a project; omitted properties stay the same. */
export interface ProjectChanges {
  readonly brandTerms?: readonly BrandTerm[] | undefined;
  readonly country?: string | null | undefined;
  readonly name?: string | undefined;
}

/** Changes a project. Fetched data is updated by the next sync. */
export async function changeProject(
  catalog: Catalog,
  id: string,
  { brandTerms, country, name }: ProjectChanges,
): Promise<void> {
  await editEntities(catalog, async ({ tx, put }) => {
    const { workspaceId: workspace } = await requireProject(tx, id);
    const details = { brandTerms, country, name };
    await recordAudit(tx, { workspace, actor: actorOf(null), action: 'project.changed', subject: id, details });
    const row = {
      ...(await entityRow(tx, 'projects', id)),
      ...(brandTerms === undefined ? {} : brandRow(brandTerms)),
      ...(country === undefined ? {} : { country }),
      ...(name === undefined ? {} : { domain: name }),
    };
    await put('projects', [row]);
  });
}
