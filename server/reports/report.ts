import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogCache, Found } from '../catalog/catalog-cache.ts';
import { findProject, type Project } from '../catalog/projects.ts';
import type { TrackedKeywordsCache, TrackedRead } from '../catalog/tracked.ts';
import { notFound } from '../domain/errors.ts';
import type { Facts } from '../facts/facts.ts';
import { UnreadableList } from '../lists/list-reader.ts';
import type { Lists } from '../lists/lists.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import { type FormatName, formatParameters, type Parameters, readParameters } from './parameters.ts';

/** The dependencies of reports. */
export interface ReportSources {
  readonly catalog: Catalog;
  readonly catalogCache: CatalogCache;
  readonly tracked: TrackedKeywordsCache;
  readonly facts: Facts;
  readonly lists: Lists;
  /** The stored files of facts, for those that are handed out as they are. */
  readonly factFiles: CheckedFiles;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Where browsers reach this server, without a path; null where no setting says it. */
  readonly publicUrl: string | null;
}

/** The properties of every query value: the project and its revisions. */
export interface ProjectQuery {
  readonly operation: string;
  readonly workspace: string;
  readonly project: string;
  readonly factsRevision: number;
  readonly entitiesRevision: number;
  readonly format: FormatName;
  readonly bom: boolean;
}

/** A catalog snapshot with the project of a query; see `Report.needs`. */
interface Snapshots {
  readonly project: { readonly catalog: Catalog; readonly project: Project };
  /** Also contains the project's tracked keywords and groups, which may be slow to read. */
  readonly tracked: TrackedRead;
}
type Snapshot<Needs extends keyof Snapshots> = Snapshots[Needs];

/** The caller of a report. */
export interface Caller {
  /** Aborted when no client is waiting for the result. */
  readonly signal: AbortSignal;
  /** Identifies the client: all pages of a sequence are read from the same list. */
  readonly reader: string;
}

/** The unparsed parameters of a request. */
export interface ReportRequest {
  readonly workspace: string;
  /** The id of the project, as sent. */
  readonly id: string;
  readonly parameters: unknown;
}

/** Parses the parameters of a request to a query value. */
export interface Parser<Query> {
  /** Name of the operation for generated clients. */
  readonly operation: string;
  readonly parameters: Parameters;
  /**
   * Returns the query as plain data, which is also the cache key. It must depend only on the parameters, the project and the
   * day. Throws `invalid_request`.
   */
  readonly parse: (parameters: unknown, project: Project, now: number) => Query;
  /** Throws `not_found` for unknown ids in parameters: 404 takes precedence over 400. */
  readonly checkIds?: (parameters: unknown, project: Project, catalog: Catalog) => Promise<void>;
}

/** A report about one project, from request parameters to a result for the formatters. */
interface ReportOf<Needs extends keyof Snapshots, Query, Plan, Result> extends Parser<Query> {
  /** The kind of snapshot that `plan` reads. */
  readonly needs: Needs;
  /** Reads all required catalog data in one snapshot, and selects the fact files. */
  readonly plan: (query: Query, snapshot: Snapshot<Needs>, sources: ReportSources) => Plan | Promise<Plan>;
  /** Reads the facts of the plan. */
  readonly run: (plan: Plan, sources: ReportSources, caller: Caller) => Result | Promise<Result>;
}

export type Report<Query extends ProjectQuery, Plan, Result> =
  | ReportOf<'project', Query, Plan, Result>
  | ReportOf<'tracked', Query, Plan, Result>;

type Definition<Needs extends keyof Snapshots, Query, Plan, Result> = Omit<
  ReportOf<Needs, Query, Plan, Result>,
  'needs' | 'plan'
> &
  Pick<ReportOf<Needs, ProjectQuery & Query, Plan, Result>, 'plan'>;

/** A report whose plan needs only the project. Adds the common properties to the query value. */
export function projectReport<Query, Plan, Result>(
  definition: Definition<'project', Query, Plan, Result>,
): ReportOf<'project', ProjectQuery & Query, Plan, Result> {
  return { ...definition, needs: 'project', parse: parserOf(definition) };
}

/** A report whose plan also needs the project's tracked keywords and groups. */
export function trackedReport<Query, Plan, Result>(
  definition: Definition<'tracked', Query, Plan, Result>,
): ReportOf<'tracked', ProjectQuery & Query, Plan, Result> {
  return { ...definition, needs: 'tracked', parse: parserOf(definition) };
}

function parserOf<Query>({
  operation,
  parameters: known,
  parse,
}: Parser<Query>): Parser<ProjectQuery & Query>['parse'] {
  const hasFormats = 'format' in known;
  return (parameters, project, now) => {
    const { workspaceId: workspace, id, factsRevision, entitiesRevision } = project;
    const format = hasFormats ? readParameters(formatParameters, parameters) : JSON_ONLY;
    const common = { operation, workspace, project: id, factsRevision, entitiesRevision, ...format };
    return { ...common, ...parse(parameters, project, now) };
  };
}

const JSON_ONLY = { format: 'json', bom: false } as const;

/** Finds the project of a request, synchronously if it is cached. Throws `not_found`. */
export function findReportProject(
  { catalogCache }: Pick<ReportSources, 'catalogCache'>,
  { workspace, id }: Pick<ReportRequest, 'workspace' | 'id'>,
): Project | Promise<Project> {
  const found: Found<Project> = catalogCache.project(workspace, id);
  return found instanceof Promise ? found.then(requireProject) : requireProject(found);
}

/** Throws `not_found` for undefined: no such project. */
function requireProject<Found>(found: Found | undefined): Found {
  if (found === undefined) throw notFound('The workspace of this key has no such project.');
  return found;
}

/** Throws the error for rejected parameters: `not_found` for unknown ids, else the error of `parse`. */
export async function rejectParameters(
  report: Parser<unknown>,
  { catalog }: Pick<ReportSources, 'catalog'>,
  project: Project,
  parameters: unknown,
  error: unknown,
): Promise<never> {
  await report.checkIds?.(parameters, project, catalog);
  throw error;
}

/** Plans a query in one snapshot of the catalog. */
export async function planReport<Query extends ProjectQuery, Plan>(
  report: Report<Query, Plan, unknown>,
  query: Query,
  sources: ReportSources,
  { workspace, id, parameters }: ReportRequest,
): Promise<Plan> {
  // If a load was published since, the query is parsed again with the new project.
  const current = (project: Project): Query =>
    isCurrent(query, project) ? query : report.parse(parameters, project, sources.now());
  const planned =
    report.needs === 'tracked'
      ? await sources.tracked.read(workspace, id, async (read) => ({
          plan: await report.plan(current(read.project), read, sources),
        }))
      : await sources.catalog.snapshot(async (catalog) => {
          const project = await findProject(catalog, workspace, id);
          return project && { plan: await report.plan(current(project), { catalog, project }, sources) };
        });
  return requireProject(planned).plan;
}

/** Plans and runs a query. */
export async function runReport<Query extends ProjectQuery, Plan, Result>(
  report: Report<Query, Plan, Result>,
  query: Query,
  sources: ReportSources,
  request: ReportRequest,
  caller: Caller & { readonly onStage: (name: 'plan' | 'run') => void },
): Promise<Result> {
  const once = async (): Promise<Result> => {
    const plan = await planReport(report, query, sources, request);
    caller.onStage('plan');
    const result = await report.run(plan, sources, caller);
    caller.onStage('run');
    return result;
  };
  try {
    return await once();
  } catch (error) {
    // Plans again, because the sources of the list may have changed.
    if (error instanceof UnreadableList) return once();
    throw error;
  }
}

function isCurrent(query: ProjectQuery, { factsRevision, entitiesRevision }: Project): boolean {
  return query.factsRevision === factsRevision && query.entitiesRevision === entitiesRevision;
}

/** The `project` object that results start with. */
export function projectReference({ id, domain }: Project): { id: string; domain: string } {
  return { id, domain };
}
