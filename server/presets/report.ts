import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogCache } from '../catalog/catalog-cache.ts';
import { findProject, type Project, readWorkspaceProjects, type WorkspaceProjects } from '../catalog/projects.ts';
import type { TrackedKeywordsCache, TrackedRead } from '../catalog/tracked.ts';
import { notFound } from '../domain/errors.ts';
import type { FormatName } from '../domain/formats.ts';
import type { Facts } from '../facts/facts.ts';
import type { Lists } from '../lists/lists.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { JudgedFindings } from './judged-findings.ts';
import { formatParameters, type Parameters, readParameters } from './parameters.ts';

/** The dependencies of reports. */
export interface ReportSources {
  readonly catalog: Catalog;
  readonly catalogCache: CatalogCache;
  readonly trackedCache: TrackedKeywordsCache;
  readonly judged: JudgedFindings;
  readonly facts: Facts;
  readonly lists: Lists;
  /** The stored files, for those that are sent unchanged. */
  readonly files: FileStore;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** The origin at which browsers reach this server; null if it is not set. */
  readonly publicUrl: string | null;
}

/** A request for a report, from HTTP or MCP. */
export interface ReportRequest {
  readonly workspace: string;
  /** The projects that the caller may read; null for all. */
  readonly projects: readonly string[] | null;
  /** The id of the project, as sent; empty for reports about a workspace. */
  readonly id: string;
  /** Identifies the caller: all pages of a sequence are read from the same list. */
  readonly reader: string;
  /** Aborted when no client is waiting for the result. */
  readonly signal: AbortSignal;
  /** Called at the end of each stage. */
  readonly onStage?: (name: 'plan' | 'run') => void;
}

/** The properties of every query value, besides the revisions of its subject. */
export interface ReportQuery {
  readonly operation: string;
  readonly workspace: string;
  readonly format: FormatName;
  readonly bom: boolean;
}

/** A load was published after a query was parsed: its key and entity tag belong to the previous state. */
class OutdatedQuery extends Error {}

/** A kind of response, from request parameters to a result for the formatters. */
export interface Report<Subject, Query extends ReportQuery, Result> {
  /** Name of the operation for generated clients. */
  readonly operation: string;
  readonly parameters: Parameters;
  /** Finds the subject of a request, synchronously if it is cached. Throws `not_found`. */
  readonly find: (sources: Pick<ReportSources, 'catalogCache'>, request: ReportTarget) => Subject | Promise<Subject>;
  /** The query as plain data, which is also the cache key. Throws `invalid_request`. */
  readonly parse: (parameters: unknown, subject: Subject, now: number) => Query;
  /** Throws `not_found` for unknown ids in parameters that `parse` has rejected: 404 takes precedence over 400. */
  readonly checkIds?: (parameters: unknown, subject: Subject, catalog: Catalog) => Promise<void>;
  /** Throws what `find` and `parse` throw for a request. */
  readonly check: (
    sources: Pick<ReportSources, 'catalogCache'>,
    target: ReportTarget,
    parameters: unknown,
    now: number,
  ) => Promise<void>;
  /** Plans and runs a query. Throws `OutdatedQuery`. */
  readonly run: (query: Query, sources: ReportSources, request: ReportRequest) => Promise<Result>;
}

type ReportTarget = Pick<ReportRequest, 'workspace' | 'projects' | 'id'>;

/** How a report is written. */
interface Definition<Subject, Revisions, Snapshot, Query, Plan, Result>
  extends Pick<Report<Subject, ReportQuery, Result>, 'operation' | 'parameters' | 'checkIds'> {
  /** Must depend only on the parameters, the subject and the day, and contain all that the response depends on. */
  readonly parse: (parameters: unknown, subject: Subject, now: number) => Query;
  /** Reads all required catalog data in one snapshot, and selects the fact files. */
  readonly plan: (
    query: ReportQuery & Revisions & Query,
    snapshot: Snapshot,
    sources: ReportSources,
  ) => Plan | Promise<Plan>;
  /** Reads the facts of the plan. */
  readonly run: (plan: Plan, sources: ReportSources, request: ReportRequest) => Result | Promise<Result>;
  /** Whether a failed run can succeed with another plan. */
  readonly mayReplan?: (error: unknown) => boolean;
}

/** A kind of subject of reports. */
interface SubjectKind<Subject, Revisions, Snapshot> {
  readonly find: Report<Subject, ReportQuery, unknown>['find'];
  /** Properties of a query value that change when the subject does. */
  readonly revisionsOf: (subject: Subject) => Revisions;
  /** Runs `work` in one snapshot of the catalog. Throws `not_found`. */
  readonly read: <T>(
    sources: ReportSources,
    target: ReportTarget,
    work: (subject: Subject, snapshot: Snapshot) => Promise<T>,
  ) => Promise<T>;
}

export interface ProjectRevisions {
  readonly project: string;
  readonly factsRevision: number;
  readonly entitiesRevision: number;
}

const revisionsOfProject = ({ id: project, factsRevision, entitiesRevision }: Project): ProjectRevisions => ({
  project,
  factsRevision,
  entitiesRevision,
});

/** A report about one project. */
export const projectReport = reportsAbout<Project, ProjectRevisions, { catalog: Catalog; project: Project }>({
  find: findReportProject,
  revisionsOf: revisionsOfProject,
  read: async ({ catalog }, { workspace, id }, work) =>
    catalog.cachedSnapshot(async (snapshot) => {
      const project = requireProject(await findProject(snapshot, workspace, id));
      return work(project, { catalog: snapshot, project });
    }),
});

/** A report about one project whose plan also needs its tracked keywords and groups, which may be slow to read. */
export const trackedReport = reportsAbout<Project, ProjectRevisions, TrackedRead>({
  find: findReportProject,
  revisionsOf: revisionsOfProject,
  // In an object, because undefined means that there is no such project.
  read: async ({ trackedCache }, { workspace, id }, work) =>
    requireProject(await trackedCache.read(workspace, id, async (read) => ({ done: await work(read.project, read) })))
      .done,
});

const allProjects = {
  find: ({ catalogCache }: Pick<ReportSources, 'catalogCache'>, { workspace, projects }: ReportTarget) =>
    catalogCache.workspaceProjects(workspace, projects),
  revisionsOf: ({ revision }: WorkspaceProjects) => ({ revision }),
};
type WorkspaceRevision = ReturnType<typeof allProjects.revisionsOf>;

/** A report that needs only the projects of a workspace that the caller may read: these are cached. */
export const projectsOnlyReport = reportsAbout<WorkspaceProjects, WorkspaceRevision, WorkspaceProjects>({
  ...allProjects,
  read: async (sources, target, work) => {
    const found = await allProjects.find(sources, target);
    return work(found, found);
  },
});

/** A report about all projects of a workspace that the caller may read, with their common revision. */
export const workspaceReport = reportsAbout<
  WorkspaceProjects,
  WorkspaceRevision,
  { catalog: Catalog; workspace: WorkspaceProjects }
>({
  ...allProjects,
  read: async ({ catalog }, { workspace, projects }, work) =>
    catalog.cachedSnapshot(async (snapshot) => {
      const found = await readWorkspaceProjects(snapshot, workspace, projects);
      return work(found, { catalog: snapshot, workspace: found });
    }),
});

function reportsAbout<Subject extends { readonly workspaceId: string }, Revisions extends object, Snapshot>(
  kind: SubjectKind<Subject, Revisions, Snapshot>,
) {
  return <Query, Plan, Result>(
    definition: Definition<Subject, Revisions, Snapshot, Query, Plan, Result>,
  ): Report<Subject, ReportQuery & Revisions & Query, Result> => {
    const { operation, parameters, mayReplan } = definition;

    async function run(
      query: ReportQuery & Revisions & Query,
      sources: ReportSources,
      request: ReportRequest,
    ): Promise<Result> {
      const plan = await kind.read(sources, request, async (subject, snapshot) => {
        if (!hasRevisions(query, kind.revisionsOf(subject))) throw new OutdatedQuery('A load was published meanwhile.');
        return definition.plan(query, snapshot, sources);
      });
      request.onStage?.('plan');
      const result = await definition.run(plan, sources, request);
      request.onStage?.('run');
      return result;
    }

    const parse = (sent: unknown, subject: Subject, now: number) => ({
      operation,
      workspace: subject.workspaceId,
      ...kind.revisionsOf(subject),
      ...('format' in parameters ? readParameters(formatParameters, sent) : JSON_ONLY),
      ...definition.parse(sent, subject, now),
    });

    return {
      ...definition,
      find: kind.find,
      parse,
      check: async (sources, target, sent, now) => {
        parse(sent, await kind.find(sources, target), now);
      },
      run: async (query, sources, request) => {
        try {
          return await run(query, sources, request);
        } catch (error) {
          if (mayReplan?.(error) !== true) throw error;
          return run(query, sources, request);
        }
      },
    };
  };
}

const JSON_ONLY = { format: 'json', bom: false } as const;

/** Whether a query was parsed with these revisions. */
function hasRevisions<Revisions extends object>(query: Revisions, revisions: Revisions): boolean {
  return (Object.keys(revisions) as (keyof Revisions)[]).every((name) => query[name] === revisions[name]);
}

/** Finds a project for a report or another response about it, synchronously if it is cached. Throws `not_found`. */
export function findReportProject(
  { catalogCache }: Pick<ReportSources, 'catalogCache'>,
  { workspace, id }: Pick<ReportTarget, 'workspace' | 'id'>,
): Project | Promise<Project> {
  const found = catalogCache.project(workspace, id);
  return found instanceof Promise ? found.then(requireProject) : requireProject(found);
}

function requireProject<Found>(found: Found | undefined): Found {
  if (found === undefined) throw notFound('The workspace of this key has no such project.');
  return found;
}

/** Answers a request, and restarts whenever a load was published after its parameters were parsed. */
export async function answerCurrent<T>(answer: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof OutdatedQuery)) throw error;
      // A commit of another process is noticed in the next turn of the event loop.
      await nextTurn();
    }
  }
}

/** Runs a report for code that needs its result: find, parse, plan, run, all of one state. @param sent its parameters */
export function askReport<Subject, Query extends ReportQuery, Result>(
  report: Pick<Report<Subject, Query, Result>, 'find' | 'parse' | 'run'>,
  sources: ReportSources,
  request: ReportRequest,
  sent: object,
): Promise<Result> {
  return answerCurrent(async () => {
    const subject = await report.find(sources, request);
    return report.run(report.parse(sent, subject, sources.now()), sources, request);
  });
}

/** The `project` object that results start with. */
export function projectReference({ id, domain }: Project): { id: string; domain: string } {
  return { id, domain };
}
