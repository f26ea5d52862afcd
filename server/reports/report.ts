import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogCache, Found } from '../catalog/catalog-cache.ts';
import { findProject, type Project } from '../catalog/projects.ts';
import type { TrackedKeywordsCache, TrackedRead } from '../catalog/tracked.ts';
import { type KnownError, notFound } from '../domain/errors.ts';
import type { Facts } from '../facts/facts.ts';
import { UnreadableList } from '../lists/list-reader.ts';
import type { Lists } from '../lists/lists.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import { type FormatName, formatParameters, type Parameters, readParameters } from './parameters.ts';

/** What reports read from. */
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
}

/** The part of every query value that says which project it is about, and in which state. */
export interface ProjectQuery {
  readonly operation: string;
  readonly workspace: string;
  readonly project: string;
  readonly factsRevision: number;
  readonly entitiesRevision: number;
  readonly format: FormatName;
  readonly bom: boolean;
}

/** One state of the catalog, with the project that a query is about; see `Report.needs`. */
interface Snapshots {
  readonly project: { readonly catalog: Catalog; readonly project: Project };
  /** With the project's tracked keywords and groups, which may take a while to read. */
  readonly tracked: TrackedRead;
}
type Snapshot<Needs extends keyof Snapshots> = Snapshots[Needs];

/** Who asks for a report. */
export interface Caller {
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  /** All pages of a list that one reader asks for come from the list of the first. */
  readonly reader: string;
}

/** What a request asks for, before it is understood. */
export interface ReportRequest {
  readonly workspace: string;
  /** The id of the project, as sent. */
  readonly id: string;
  readonly parameters: unknown;
}

/** The first half of a report: from the parameters of a request to a query value. */
export interface Parser<Query> {
  /** Name of the operation for generated clients. */
  readonly operation: string;
  readonly parameters: Parameters;
  /**
   * The query that parameters mean: plain data, which is also the cache key. It depends on the parameters, the project and
   * the day only. Throws `invalid_request`.
   */
  readonly parse: (parameters: unknown, project: Project, now: number) => Query;
  /** Throws `not_found` for parameters that name what the project does not have: a 404 goes before a 400. */
  readonly checkIds?: (parameters: unknown, project: Project, catalog: Catalog) => Promise<void>;
}

/** A report about one project: from the parameters of a request to the result that formats write. */
interface ReportOf<Needs extends keyof Snapshots, Query, Plan, Result> extends Parser<Query> {
  /** The snapshot that `plan` reads from. */
  readonly needs: Needs;
  /** Reads all that the result needs of the catalog, in one snapshot, and names the files to read. */
  readonly plan: (query: Query, snapshot: Snapshot<Needs>, sources: ReportSources) => Plan | Promise<Plan>;
  /** Reads what the plan names. */
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

/** A report whose plan needs the project alone. What `parse` gives is completed by what every query value has. */
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
    const written = hasFormats ? readParameters(formatParameters, parameters) : JSON_ONLY;
    return {
      operation,
      workspace,
      project: id,
      factsRevision,
      entitiesRevision,
      ...written,
      ...parse(parameters, project, now),
    };
  };
}

const JSON_ONLY = { format: 'json', bom: false } as const;

/** The project that a request is about, at once where it is cached. Throws `not_found` where the workspace has none. */
export function findReportProject(
  { catalogCache }: Pick<ReportSources, 'catalogCache'>,
  { workspace, id }: ReportRequest,
): Project | Promise<Project> {
  const found: Found<Project> = catalogCache.project(workspace, id);
  return found instanceof Promise ? found.then(known) : known(found);
}

function known(project: Project | undefined): Project {
  if (project === undefined) throw unknownProject();
  return project;
}

/** Throws why parameters were refused: `not_found` before `invalid_request`, which is what `parse` threw. */
export async function refuse(
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
  // A load may have been published since the query was parsed; then the project says something else.
  const current = (project: Project): Query =>
    isAbout(query, project) ? query : report.parse(parameters, project, sources.now());
  const planned =
    report.needs === 'tracked'
      ? await sources.tracked.read(workspace, id, async (read) => ({
          plan: await report.plan(current(read.project), read, sources),
        }))
      : await sources.catalog.snapshot(async (catalog) => {
          const project = await findProject(catalog, workspace, id);
          return project && { plan: await report.plan(current(project), { catalog, project }, sources) };
        });
  if (planned === undefined) throw unknownProject();
  return planned.plan;
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
    // From the start: what the lost list was made from may have changed, too.
    if (error instanceof UnreadableList) return once();
    throw error;
  }
}

function isAbout(query: ProjectQuery, { factsRevision, entitiesRevision }: Project): boolean {
  return query.factsRevision === factsRevision && query.entitiesRevision === entitiesRevision;
}

/** The `project` object that results start with. */
export function projectReference({ id, domain }: Project): { id: string; domain: string } {
  return { id, domain };
}

function unknownProject(): KnownError {
  return notFound('The workspace of this key has no such project.');
}
