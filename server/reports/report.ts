import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogCache, Found } from '../catalog/catalog-cache.ts';
import { findProject, type Project, readWorkspaceProjects, type WorkspaceProjects } from '../catalog/projects.ts';
import type { TrackedKeywordsCache, TrackedRead } from '../catalog/tracked.ts';
import { notFound } from '../domain/errors.ts';
import type { Facts } from '../facts/facts.ts';
import { UnreadableList } from '../lists/list-reader.ts';
import type { Lists } from '../lists/lists.ts';
import type { FileStore } from '../storage/file-store.ts';
import { type FormatName, formatParameters, type Parameters, readParameters } from './parameters.ts';

/** The dependencies of reports. */
export interface ReportSources {
  readonly catalog: Catalog;
  readonly catalogCache: CatalogCache;
  readonly tracked: TrackedKeywordsCache;
  readonly facts: Facts;
  readonly lists: Lists;
  /** The stored files, for those that are handed out as they are. */
  readonly files: FileStore;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Where browsers reach this server, without a path; null where no setting says it. */
  readonly publicUrl: string | null;
}

/** The properties of every query value. */
export interface ReportQuery {
  readonly operation: string;
  readonly workspace: string;
  readonly format: FormatName;
  readonly bom: boolean;
}

/** A query about a project, with its revisions. */
export interface ProjectQuery extends ReportQuery {
  readonly project: string;
  readonly factsRevision: number;
  readonly entitiesRevision: number;
}

/** A query about all projects of a workspace, with their common revision. */
export interface WorkspaceQuery extends ReportQuery {
  readonly revision: string;
}

/** A catalog snapshot with the project of a query; see `Report.needs`. */
interface Snapshots {
  readonly project: { readonly catalog: Catalog; readonly project: Project };
  /** Also contains the project's tracked keywords and groups, which may be slow to read. */
  readonly tracked: TrackedRead;
  readonly workspace: { readonly catalog: Catalog; readonly workspace: WorkspaceProjects };
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
  /** The projects that a report about a workspace reads; null for all. */
  readonly projects: readonly string[] | null;
  readonly parameters: unknown;
}

/** What a report is about. */
interface Subjects {
  readonly project: Project;
  readonly tracked: Project;
  readonly workspace: WorkspaceProjects;
}
export type Subject = Subjects[keyof Subjects];

/** Parses the parameters of a request to a query value. */
export interface Parser<Query, Of = Project> {
  /** Name of the operation for generated clients. */
  readonly operation: string;
  readonly parameters: Parameters;
  /**
   * Returns the query as plain data, which is also the cache key. It must depend only on the parameters, the subject and the
   * day. Throws `invalid_request`.
   */
  readonly parse: (parameters: unknown, subject: Of, now: number) => Query;
  /** Throws `not_found` for unknown ids in parameters: 404 takes precedence over 400. */
  readonly checkIds?: (parameters: unknown, project: Project, catalog: Catalog) => Promise<void>;
}

/** A report, from request parameters to a result for the formatters. */
interface ReportOf<Needs extends keyof Snapshots, Query, Plan, Result> extends Parser<Query, Subjects[Needs]> {
  /** The kind of snapshot that `plan` reads. */
  readonly needs: Needs;
  /** Reads all required catalog data in one snapshot, and selects the fact files. */
  readonly plan: (query: Query, snapshot: Snapshot<Needs>, sources: ReportSources) => Plan | Promise<Plan>;
  /** Reads the facts of the plan. */
  readonly run: (plan: Plan, sources: ReportSources, caller: Caller) => Result | Promise<Result>;
}

/** A report about one project. */
export type Report<Query extends ProjectQuery, Plan, Result> =
  | ReportOf<'project', Query, Plan, Result>
  | ReportOf<'tracked', Query, Plan, Result>;

export type AnyReport<Query extends ReportQuery, Plan, Result> =
  | ReportOf<'project', Query, Plan, Result>
  | ReportOf<'tracked', Query, Plan, Result>
  | ReportOf<'workspace', Query, Plan, Result>;

/** How a report, of whatever kind, reads parameters. */
export type AnyParser<Query> = {
  [Needs in keyof Subjects]: Parser<Query, Subjects[Needs]> & { readonly needs: Needs };
}[keyof Subjects];

type Definition<Needs extends keyof Snapshots, Query, Plan, Result, Common = ProjectQuery> = Omit<
  ReportOf<Needs, Query, Plan, Result>,
  'needs' | 'plan'
> &
  Pick<ReportOf<Needs, Common & Query, Plan, Result>, 'plan'>;

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

/** A report about all projects of a workspace. Adds the common properties to the query value. */
export function workspaceReport<Query, Plan, Result>(
  definition: Definition<'workspace', Query, Plan, Result, WorkspaceQuery>,
): ReportOf<'workspace', WorkspaceQuery & Query, Plan, Result> {
  const { operation, parameters: known, parse } = definition;
  return {
    ...definition,
    needs: 'workspace',
    parse: (parameters, workspace, now) => {
      const { workspaceId, revision } = workspace;
      const common = { operation, workspace: workspaceId, revision, ...formatOf(known, parameters) };
      return { ...common, ...parse(parameters, workspace, now) };
    },
  };
}

function parserOf<Query>({
  operation,
  parameters: known,
  parse,
}: Parser<Query>): Parser<ProjectQuery & Query>['parse'] {
  return (parameters, project, now) => {
    const { workspaceId: workspace, id, factsRevision, entitiesRevision } = project;
    const common = { operation, workspace, project: id, factsRevision, entitiesRevision };
    return { ...common, ...formatOf(known, parameters), ...parse(parameters, project, now) };
  };
}

function formatOf(known: Parameters, sent: unknown): Pick<ReportQuery, 'format' | 'bom'> {
  return 'format' in known ? readParameters(formatParameters, sent) : JSON_ONLY;
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

/** Finds what a request is about, synchronously if it is cached. Throws `not_found`. */
export function findSubject(
  { needs }: AnyParser<unknown>,
  sources: Pick<ReportSources, 'catalogCache'>,
  request: Pick<ReportRequest, 'workspace' | 'id' | 'projects'>,
): Subject | Promise<Subject> {
  if (needs === 'workspace') return sources.catalogCache.workspaceProjects(request.workspace, request.projects);
  return findReportProject(sources, request);
}

/** Parses the parameters of a request about what `findSubject` found for the same report. */
export function parseParameters<Query>(
  report: AnyParser<Query>,
  parameters: unknown,
  subject: Subject,
  now: number,
): Query {
  return report.parse(parameters, subject as Project & WorkspaceProjects, now);
}

/** Throws `not_found` for undefined: no such project. */
function requireProject<Found>(found: Found | undefined): Found {
  if (found === undefined) throw notFound('The workspace of this key has no such project.');
  return found;
}

/** Throws the error for rejected parameters: `not_found` for unknown ids, else the error of `parse`. */
export async function rejectParameters(
  report: Pick<Parser<unknown>, 'checkIds'>,
  { catalog }: Pick<ReportSources, 'catalog'>,
  subject: Subject,
  parameters: unknown,
  error: unknown,
): Promise<never> {
  if ('id' in subject) await report.checkIds?.(parameters, subject, catalog);
  throw error;
}

/** Plans a query in one snapshot of the catalog. */
export async function planReport<Query extends ReportQuery, Plan>(
  report: AnyReport<Query, Plan, unknown>,
  query: Query,
  sources: ReportSources,
  { workspace, id, projects, parameters }: ReportRequest,
): Promise<Plan> {
  // If a load was published since, the query is parsed again with what it left.
  const current = (subject: Subject): Query =>
    isCurrent(query, subject) ? query : parseParameters(report, parameters, subject, sources.now());
  if (report.needs === 'workspace') {
    return sources.catalog.snapshot(async (catalog) => {
      const found = await readWorkspaceProjects(catalog, workspace, projects);
      return report.plan(current(found), { catalog, workspace: found }, sources);
    });
  }
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
export async function runReport<Query extends ReportQuery, Plan, Result>(
  report: AnyReport<Query, Plan, Result>,
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

/** Whether a query was parsed with this state of its subject. */
function isCurrent(query: ReportQuery, subject: Subject): boolean {
  const revisions: Partial<ProjectQuery & WorkspaceQuery> = query;
  return 'revision' in subject
    ? revisions.revision === subject.revision
    : revisions.factsRevision === subject.factsRevision && revisions.entitiesRevision === subject.entitiesRevision;
}

/** The `project` object that results start with. */
export function projectReference({ id, domain }: Project): { id: string; domain: string } {
  return { id, domain };
}
