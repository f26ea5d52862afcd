import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogCache } from '../catalog/catalog-cache.ts';
import type { TrackedKeywordsCache, TrackedRead } from '../catalog/keywords.ts';
import { findProject, type Project, readWorkspaceProjects, type WorkspaceProjects } from '../catalog/projects.ts';
import { type ErrorCode, notFound } from '../domain/errors.ts';
import type { FormatName } from '../domain/formats.ts';
import type { Facts } from '../facts/facts.ts';
import { documentJson } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import type { Lists } from '../lists/lists.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { JudgedFindings } from './findings-answer.ts';
import { formatParameters, type Parameters, readParameters } from './parameters.ts';

/** The dependencies of presets. */
export interface PresetSources {
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

/** A request for a preset, from HTTP or MCP. */
export interface PresetRequest {
  readonly workspace: string;
  /** The projects that the caller may read; null for all. */
  readonly projects: readonly string[] | null;
  /** The id of the project, as sent; empty for presets about a workspace. */
  readonly id: string;
  /** Identifies the caller: all pages of a sequence are read from the same list. */
  readonly reader: string;
  /** Aborted when no client is waiting for the result. */
  readonly signal: AbortSignal;
  /** Called at the end of each stage. */
  readonly onStage?: (name: 'plan' | 'run') => void;
}

/** The properties of every query value, besides the revisions of its subject. */
export interface PresetQuery {
  readonly operation: string;
  readonly workspace: string;
  readonly format: FormatName;
  readonly bom: boolean;
}

/** A load was published after a query was parsed: its key and entity tag belong to the previous state. */
class OutdatedQuery extends Error {}

/** Headings of the documentation, in order. */
export const TAGS = [
  { name: 'Projects', description: 'What a key can read.' },
  { name: 'Keywords', description: 'Tracked keywords and their groups.' },
  { name: 'Site', description: 'The whole property by day and by breakdown.' },
  { name: 'Pages and queries', description: 'Lists for a range, computed once and then shared.' },
  { name: 'Questions', description: 'Any question that stored facts answer exactly.' },
  { name: 'Alerts and notes', description: 'Alerts from checks, and notes from users.' },
  { name: 'Snapshot', description: 'All stored facts as Parquet files, and which of them changed.' },
] as const;

/** Where a kind of response is served, and what its documentation says. */
export interface Documented extends Pick<Answering<never, never, never>, 'operation' | 'parameters'> {
  /** The path below the root of the API. */
  readonly path: string;
  /** The schema of a body that POST takes as JSON instead of the parameter `q`; the response is that of GET. */
  readonly body?: TSchema;
  readonly tag: (typeof TAGS)[number]['name'];
  readonly summary: string;
  readonly description: string;
  /** The schema of the response. */
  readonly answer: TSchema;
  /** What the response has, in a few words. */
  readonly content: string;
  /** Errors besides those that all requests, requests with parameters or requests about a project may have. */
  readonly errors?: readonly ErrorCode[];
  /** Requests for the examples in the documentation, by response status. */
  readonly examples: Readonly<Record<number, string>>;
}

/** How a preset answers, from parameters to a result. Methods, so that presets of all types fit into one list. */
export interface Answering<Subject, Query extends PresetQuery, Result> {
  /** Name of the operation for generated clients. */
  readonly operation: string;
  readonly parameters: Parameters;
  /** Finds the subject of a request, synchronously if it is cached. Throws `not_found`. */
  find(sources: Pick<PresetSources, 'catalogCache'>, request: PresetTarget): Subject | Promise<Subject>;
  /** The query as plain data, which is also the cache key. Throws `invalid_request`. */
  parse(parameters: unknown, subject: Subject, now: number): Query;
  /** Throws `not_found` for unknown ids in parameters that `parse` has rejected: 404 takes precedence over 400. */
  checkIds?(parameters: unknown, subject: Subject, catalog: Catalog): Promise<void>;
  /** Throws what `find` and `parse` throw for a request. */
  check(
    sources: Pick<PresetSources, 'catalogCache'>,
    target: PresetTarget,
    parameters: unknown,
    now: number,
  ): Promise<void>;
  /** Plans and runs a query. Throws `OutdatedQuery`. */
  run(query: Query, sources: PresetSources, request: PresetRequest): Promise<Result>;
}

/** A kind of response with its endpoint: its documentation, and its result in every format. */
interface Preset<Subject, Query extends PresetQuery, Result> extends Answering<Subject, Query, Result>, Documented {
  json(result: Result): Buffer | Promise<Buffer>;
  /** Whether its JSON is too long to cache: `jsonChunks` streams it. */
  isStreamed?(query: Query): boolean;
  jsonChunks?(result: Result): AsyncGenerator<Buffer, void>;
  /** Flat rows, for all formats except JSON. */
  rows?(result: Result): RowsAnswer;
  /** Whether the response may be so long that concurrency must be limited. */
  isLong?(query: Query): boolean;
  /**
   * For results that change without a revision: what the response depends on besides the query value. They are not cached,
   * and their entity tag is known only when they have been read.
   */
  version?(result: Result): string;
  /** The project of a subject, if the request is repeated after a publication: see `followPublications`. */
  followed?(subject: Subject): Project;
}

/** A preset among those of all kinds. */
export type AnyPreset = Preset<{ readonly workspaceId: string }, PresetQuery, unknown>;

/** The version of a short result: its JSON. */
export const wholeResult = (result: unknown): string => JSON.stringify(result);

type PresetTarget = Pick<PresetRequest, 'workspace' | 'projects' | 'id'>;

/** How a preset is written. */
interface Definition<Subject, Revisions, Snapshot, Query, Plan, Result> {
  readonly operation: string;
  readonly parameters: Parameters;
  /** Must depend only on the parameters, the subject and the day, and contain all that the response depends on. */
  readonly parse: (parameters: unknown, subject: Subject, now: number) => Query;
  readonly checkIds?: (parameters: unknown, subject: Subject, catalog: Catalog) => Promise<void>;
  /** Reads all required catalog data in one snapshot, and selects the fact files. */
  readonly plan: (
    query: PresetQuery & Revisions & Query,
    snapshot: Snapshot,
    sources: PresetSources,
  ) => Plan | Promise<Plan>;
  /** Reads the facts of the plan. */
  readonly run: (plan: Plan, sources: PresetSources, request: PresetRequest) => Result | Promise<Result>;
  /** Whether a failed run can succeed with another plan. */
  readonly mayReplan?: (error: unknown) => boolean;
}

/** The same with its endpoint. */
interface PresetDefinition<Subject, Revisions, Snapshot, Query, Plan, Result, Answer extends TSchema>
  extends Documented,
    Definition<Subject, Revisions, Snapshot, Query, Plan, Result> {
  readonly answer: Answer;
  readonly isStreamed?: (query: PresetQuery & Revisions & Query) => boolean;
  readonly jsonChunks?: (result: Result) => AsyncGenerator<Buffer, void>;
  readonly rows?: (result: Result) => RowsAnswer;
  readonly isLong?: (query: PresetQuery & Revisions & Query) => boolean;
  readonly version?: (result: Result) => string;
  readonly followed?: (subject: Subject) => Project;
}

/** What JSON says of a value, so that results may share what they do not change. */
type Shared<Value> = { readonly [Name in keyof Value]: Shared<Value[Name]> };

/** A result that is the response, or has it as a property. */
type Answered<Answer> = Shared<Answer> | { readonly answer: Shared<Answer> };

/** A kind of subject of presets. */
interface SubjectKind<Subject, Revisions, Snapshot> {
  readonly find: (sources: Pick<PresetSources, 'catalogCache'>, request: PresetTarget) => Subject | Promise<Subject>;
  /** Properties of a query value that change when the subject does. */
  readonly revisionsOf: (subject: Subject) => Revisions;
  /** Runs `work` in one snapshot of the catalog. Throws `not_found`. */
  readonly read: <T>(
    sources: PresetSources,
    target: PresetTarget,
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

/** A preset about one project. */
export const projectPreset = presetsAbout<Project, ProjectRevisions, { catalog: Catalog; project: Project }>({
  find: findReadableProject,
  revisionsOf: revisionsOfProject,
  read: async ({ catalog }, { workspace, id }, work) =>
    catalog.cachedSnapshot(async (snapshot) => {
      const project = requireProject(await findProject(snapshot, workspace, id));
      return work(project, { catalog: snapshot, project });
    }),
});

/** A preset about one project whose plan also needs its tracked keywords and groups, which may be slow to read. */
export const trackedPreset = presetsAbout<Project, ProjectRevisions, TrackedRead>({
  find: findReadableProject,
  revisionsOf: revisionsOfProject,
  // In an object, because undefined means that there is no such project.
  read: async ({ trackedCache }, { workspace, id }, work) =>
    requireProject(await trackedCache.read(workspace, id, async (read) => ({ done: await work(read.project, read) })))
      .done,
});

const allProjects = {
  find: ({ catalogCache }: Pick<PresetSources, 'catalogCache'>, { workspace, projects }: PresetTarget) =>
    catalogCache.workspaceProjects(workspace, projects),
  revisionsOf: ({ revision }: WorkspaceProjects) => ({ revision }),
};
type WorkspaceRevision = ReturnType<typeof allProjects.revisionsOf>;

/** A preset that needs only the projects of a workspace that the caller may read: these are cached. */
export const projectsOnlyPreset = presetsAbout<WorkspaceProjects, WorkspaceRevision, WorkspaceProjects>({
  ...allProjects,
  read: async (sources, target, work) => {
    const found = await allProjects.find(sources, target);
    return work(found, found);
  },
});

/** A preset about all projects of a workspace that the caller may read, with their common revision. */
export const workspacePreset = presetsAbout<
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

function presetsAbout<Subject extends { readonly workspaceId: string }, Revisions extends object, Snapshot>(
  kind: SubjectKind<Subject, Revisions, Snapshot>,
) {
  function presetOf<Query, Plan, Answer extends TSchema, Result extends Answered<Static<Answer>>>(
    definition: PresetDefinition<Subject, Revisions, Snapshot, Query, Plan, Result, Answer>,
  ): Preset<Subject, PresetQuery & Revisions & Query, Result>;
  function presetOf<Query, Plan, Answer extends TSchema, Result>(
    definition: PresetDefinition<Subject, Revisions, Snapshot, Query, Plan, Result, Answer> & {
      readonly json: (result: Result) => Buffer | Promise<Buffer>;
    },
  ): Preset<Subject, PresetQuery & Revisions & Query, Result>;
  function presetOf<Query, Plan, Result>(
    definition: Definition<Subject, Revisions, Snapshot, Query, Plan, Result>,
  ): Answering<Subject, PresetQuery & Revisions & Query, Result> {
    const { operation, parameters, mayReplan } = definition;

    async function run(
      query: PresetQuery & Revisions & Query,
      sources: PresetSources,
      request: PresetRequest,
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

    const written = { json: jsonOf, ...definition };
    return {
      ...written,
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
  }
  return presetOf;
}

/** A result that is the response, or has it as its property `answer`, as JSON. */
function jsonOf(result: unknown): Buffer {
  const { answer = result } = result as { readonly answer?: unknown };
  return documentJson(answer as object);
}

const JSON_ONLY = { format: 'json', bom: false } as const;

/** Whether a query was parsed with these revisions. */
function hasRevisions<Revisions extends object>(query: Revisions, revisions: Revisions): boolean {
  return (Object.keys(revisions) as (keyof Revisions)[]).every((name) => query[name] === revisions[name]);
}

/** Finds a project for a preset or another response about it, synchronously if it is cached. Throws `not_found`. */
export function findReadableProject(
  { catalogCache }: Pick<PresetSources, 'catalogCache'>,
  { workspace, id }: Pick<PresetTarget, 'workspace' | 'id'>,
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

/** Runs a preset for code that needs its result: find, parse, plan, run, all of one state. @param sent its parameters */
export function askPreset<Subject, Query extends PresetQuery, Result>(
  preset: Pick<Answering<Subject, Query, Result>, 'find' | 'parse' | 'run'>,
  sources: PresetSources,
  request: PresetRequest,
  sent: object,
): Promise<Result> {
  return answerCurrent(async () => {
    const subject = await preset.find(sources, request);
    return preset.run(preset.parse(sent, subject, sources.now()), sources, request);
  });
}

/** The `project` object that results start with. */
export function projectReference({ id, domain }: Project): { id: string; domain: string } {
  return { id, domain };
}
