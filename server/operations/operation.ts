import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { type AuditAction, createOnce, recordAudit, type Submission } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { findAnyProject } from '../catalog/projects.ts';
import type { Role } from '../catalog/workspaces.ts';
import { notFound } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { checkInput } from './input.ts';

/** Who does something, and when. */
export interface Actor {
  /** The email address, as the author and for the audit trail. */
  readonly by: string;
  readonly role: Role;
  readonly at: Microseconds;
}

/** Whose things an operation is about. */
export interface Place {
  readonly workspace: string;
}

export interface ProjectPlace extends Place {
  readonly project: string;
}

/** What a request names: the place, and one thing in it by its id, at an instant. */
export interface Target {
  readonly workspace: string;
  readonly project: string | undefined;
  readonly id: string | undefined;
  readonly at: Microseconds;
}

/** The places that have things of a noun. */
export interface Scope<In extends Place> {
  /** The beginning of the paths. */
  readonly path: string;
  /** The place that a target names. Throws `not_found` if it is gone. */
  readonly find: (catalog: Catalog, target: Target) => Promise<In>;
}

export const OF_PROJECT: Scope<ProjectPlace> = {
  path: '/projects/:id',
  find: async (catalog, { workspace, project }) => {
    const found = project === undefined ? undefined : await findAnyProject(catalog, project);
    if (found?.workspaceId !== workspace) throw notFound('There is no such project.');
    return { workspace, project: found.id };
  },
};

export const OF_WORKSPACE: Scope<Place> = { path: '', find: async (_, { workspace }) => ({ workspace }) };

/** What operations are about: things of a place that have ids, or a setting that each place has once. */
export interface Noun<In extends Place, Found> {
  /** In paths and answers: `view`. */
  readonly name: string;
  /** In answers, where it has another name there. */
  readonly key?: string;
  /** In paths and lists: `views`; null for a setting. */
  readonly plural: string | null;
  readonly of: Scope<In>;
  /** Undefined if the place has no such thing. `id`: '' for a setting. */
  readonly find: (catalog: Catalog, place: In, id: string, at: Microseconds) => Promise<Found | undefined>;
  /** The message of the 404. It names nothing, and so reveals nothing about other workspaces. */
  readonly missing: string;
  /** Throws `forbidden` for what the role alone does not decide. */
  readonly requireRight?: (actor: Pick<Actor, 'by' | 'role'>, found: Found) => void;
  /** What people edit of it, if anything: an edit of an older state is refused as `outdated`. */
  readonly edited?: (found: Found) => object;
  /** As answers have it. */
  readonly show: (found: Found) => object;
  /** What the audit trail keeps of it. */
  readonly audited: (found: Found) => Audited;
}

export interface Audited {
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What an operation works with, after all checks. */
export interface Work<In extends Place, Input> extends Actor {
  readonly tx: Catalog;
  readonly place: In;
  readonly input: Input;
}

/** The same about one thing, as the transaction sees it. */
export interface WorkOn<In extends Place, Input, Found> extends Work<In, Input> {
  readonly found: Found;
}

/** What work is done with. Some operations need more. */
export interface Needs {
  readonly catalog: Catalog;
}

interface Common {
  readonly roles: readonly Role[];
  /** Null for what is of the member alone. */
  readonly audit: AuditAction | null;
}

interface Declared<Fields extends TProperties> extends Common {
  /** What may be sent. The schemas have the rules of single fields; `run` has those of several. */
  readonly fields: Fields;
}

type InputOf<Fields extends TProperties> = Static<TObject<Fields>>;

/**
 * What is done in the transaction. What takes long, or needs more than the catalog, is done `before` it, and returns what is
 * left to do.
 */
type Run<Given extends { readonly tx: Catalog }, With extends Needs, Made> =
  | ((work: Given) => Promise<Made>)
  | {
      readonly before: (
        needs: With,
        given: Omit<Given, 'tx'> & { readonly signal: AbortSignal },
      ) => Promise<(work: Given) => Promise<Made>>;
    };

export type Verb = 'list' | 'read' | 'add' | 'change' | 'set' | 'remove' | 'act';

/** What is asked for. */
export interface OperationRequest extends Target, Actor {
  readonly input: unknown;
  readonly signal: AbortSignal;
  /** The version that the member has read; undefined skips the check. */
  readonly version?: string | undefined;
  /** The form that was submitted; submitted again, it gets the first result. */
  readonly submission?: Submission | undefined;
}

interface Done<Result> {
  readonly result: Result;
  /** Undefined for a removal. @param server the origin at which the client reaches the server */
  readonly answer: (server: string) => object | undefined;
}

/** Something that members do. Routes are made from it, and check the role. */
export interface Operation<With extends Needs = Needs, Result = unknown> {
  readonly verb: Verb;
  /** What an act is called, in paths. */
  readonly act?: string;
  readonly noun: Pick<Noun<Place, unknown>, 'name' | 'plural'> & { readonly path: string };
  /** Whether members do it with their own only. */
  readonly isOfAuthor: boolean;
  readonly roles: readonly Role[];
  readonly audit: AuditAction | null;
  /** What may be sent; undefined for nothing. */
  readonly input: TObject | undefined;
  /** What a request must name: the version that was read, or the form that is submitted. */
  readonly names: 'version' | 'submission' | null;
  readonly status: 200 | 201;
  readonly limit?: Limit;
  /**
   * Finds the target, before the input is looked at. Throws `not_found`; `requireRight` throws `forbidden` for what the
   * role alone does not decide.
   */
  readonly find: (catalog: Catalog, target: Target) => Promise<FoundTarget>;
  /**
   * Does it, a change in one transaction with its entry of the audit trail. Throws `invalid_request` for input,
   * `not_found`, `forbidden`, `outdated` for another version, and `conflict`.
   */
  readonly perform: (needs: With, request: OperationRequest) => Promise<Done<Result>>;
}

/** How often something is done to one receiver in a minute. */
interface Limit {
  readonly most: number;
  /** What is counted, in the plural. */
  readonly what: string;
}

interface FoundTarget {
  readonly requireRight: (actor: Pick<Actor, 'by' | 'role'>) => void;
  /** Whom the limit counts, if there is one. */
  readonly receiver?: string | undefined;
}

/** Lists the things of a place. @param more what the answer has before them */
export function lists<In extends Place, Found, With extends Needs = Needs>(
  noun: Noun<In, Found>,
  roles: readonly Role[],
  list: (needs: With, place: In, at: Microseconds) => Promise<readonly Found[]>,
  more?: (needs: With) => object,
): Operation<With, readonly Found[]> {
  return {
    ...common(noun, 'list', { roles, audit: null }),
    perform: async (needs, target) => {
      const result = await list(needs, await noun.of.find(needs.catalog, target), target.at);
      const rows = result.map((one) => ({ ...noun.show(one), ...versionIn(noun, one) }));
      return { result, answer: () => ({ ...more?.(needs), [noun.plural ?? noun.name]: rows }) };
    },
  };
}

/** Reads one, with the version that an edit must send. */
export function reads<In extends Place, Found>(noun: Noun<In, Found>, roles: readonly Role[]): Operation<Needs, Found> {
  return {
    ...common(noun, 'read', { roles, audit: null }),
    perform: async ({ catalog }, target) => {
      const { found } = await catalog.snapshot((snapshot) => requireOne(noun, snapshot, target));
      return { result: found, answer: () => answerOf(noun, found) };
    },
  };
}

interface Adds<In extends Place, Fields extends TProperties, Made, With extends Needs> extends Declared<Fields> {
  readonly run: Run<Work<In, InputOf<Fields>>, With, Made>;
}

/** @param it `run` returns what was added; `answer` is given in place of the thing itself */
export function adds<In extends Place, Found, Fields extends TProperties, With extends Needs>(
  noun: Noun<In, Found>,
  it: Adds<In, Fields, Found, With> & { readonly answer?: (added: Found) => object },
): Operation<With, Found> {
  return adding(noun, {
    answer: (added: Found) => answerOf(noun, added),
    audited: noun.audited,
    again: async (tx, target) => (await requireOne(noun, tx, target)).found,
    ...it,
  });
}

/** Adds something with a secret that only the answer has. @param it `run` returns what was added, and the secret */
export function issues<In extends Place, Found, Fields extends TProperties, Made, With extends Needs>(
  noun: Noun<In, Found>,
  it: Adds<In, Fields, Made, With> & Answers<Made> & { readonly status?: 200 },
): Operation<With, Made> {
  return { ...adding(noun, it), ...(it.status && { status: it.status }) };
}

/** What is said of something other than a thing of the noun. */
interface Answers<Made> {
  readonly answer: (made: Made, server: string) => object;
  readonly audited: (made: Made) => Audited;
  /** Reads it again, for a form that is submitted again. What has a secret is kept whole instead. */
  readonly again?: (tx: Catalog, target: Target) => Promise<Made>;
}

function adding<In extends Place, Found, Fields extends TProperties, Made, With extends Needs>(
  noun: Noun<In, Found>,
  { run, again, ...it }: Adds<In, Fields, Made, With> & Answers<Made>,
): Operation<With, Made> {
  const schema = schemaOf(it.fields);
  return {
    ...common(noun, 'add', it, schema),
    perform: async (needs, { input: sent, submission, signal, ...request }) => {
      const given = { ...actorOf(request), input: await checkInput(schema, sent) };
      const place = await noun.of.find(needs.catalog, request);
      const runs = typeof run === 'function' ? run : await run.before(needs, { ...given, place, signal });
      const add = async (tx: Catalog): Promise<Made> => {
        const made = await runs({ ...given, tx, place: await noun.of.find(tx, request) });
        await audit(tx, { ...it, ...request }, it.audited(made));
        return made;
      };
      const result = await needs.catalog.transaction((tx) => {
        const byId = again && {
          idOf: (made: Made) => it.audited(made).subject,
          read: (id: string) => again(tx, { ...request, id }),
        };
        return createOnce(tx, submission, () => add(tx), byId);
      });
      return { result, answer: (server) => it.answer(result, server) };
    },
  };
}

/** Changes one thing, or a setting. @param it `run` returns it after the change; `details` are audited in place of it */
export function changes<In extends Place, Found, Fields extends TProperties>(
  noun: Noun<In, Found>,
  {
    run,
    details,
    check,
    answer = (after) => answerOf(noun, after),
    ...it
  }: Declared<Fields> & {
    /** The rules that schemas do not have; those that need the thing itself are of `run`. */
    readonly check?: (input: InputOf<Fields>) => void;
    readonly run: (work: WorkOn<In, InputOf<Fields>, Found>) => Promise<Found>;
    readonly answer?: (after: Found) => object | undefined;
    readonly details?: (input: InputOf<Fields>, after: Found) => Audited['details'];
  },
): Operation<Needs, Found> {
  const schema = schemaOf(it.fields);
  return {
    ...common(noun, noun.plural === null ? 'set' : 'change', it, schema),
    perform: async ({ catalog }, { input: sent, version, ...request }) => {
      const input = await checkInput(schema, sent);
      check?.(input);
      const result = await catalog.transaction(async (tx) => {
        const { place, found: before } = await requireOne(noun, tx, request);
        noun.requireRight?.(request, before);
        if (noun.edited) requireVersion(versionOf(noun.edited(before)), version);
        const after = await run({ ...actorOf(request), tx, place, input, found: before });
        await audit(
          tx,
          { ...it, ...request },
          { ...noun.audited(after), ...(details && { details: details(input, after) }) },
        );
        return after;
      });
      return { result, answer: () => answer(result) };
    },
  };
}

/**
 * Removes one thing. One that is gone meanwhile is not found if `gone` says so, else nothing is done.
 * @param it `run` returns false if there was nothing to do: then nothing is audited
 */
export function removes<In extends Place, Found>(
  noun: Noun<In, Found>,
  {
    run,
    details,
    gone,
    ...it
  }: Common & {
    readonly run: (work: WorkOn<In, object, Found>) => Promise<unknown>;
    readonly details?: (found: Found) => Audited['details'];
    readonly gone?: string;
  },
): Operation<Needs, undefined> {
  return {
    ...common(noun, 'remove', it),
    perform: async ({ catalog }, request) => {
      await catalog.transaction(async (tx) => {
        const place = await noun.of.find(tx, request);
        const found = await noun.find(tx, place, request.id ?? '', request.at);
        if (found === undefined) {
          if (gone !== undefined) throw notFound(gone);
          return;
        }
        noun.requireRight?.(request, found);
        if ((await run({ ...actorOf(request), tx, place, input: {}, found })) === false) return;
        await audit(tx, { ...it, ...request }, { ...noun.audited(found), ...(details && { details: details(found) }) });
      });
      return { result: undefined, answer: () => undefined };
    },
  };
}

/**
 * Does something else with one thing: `POST` to its path and the name of the act.
 * @param it `run` returns what is answered and audited; with `isSecret` it has a secret, and is done once for a form
 */
export function acts<In extends Place, Found, Fields extends TProperties, Made, With extends Needs>(
  noun: Noun<In, Found>,
  act: string,
  {
    run,
    details,
    gone = noun.missing,
    isSecret = false,
    limit,
    ...it
  }: Declared<Fields> & {
    readonly run: Run<WorkOn<In, InputOf<Fields>, Found>, With, Made>;
    readonly details: (made: Made) => Audited['details'];
    readonly answer: (made: Made) => object;
    readonly gone?: string;
    readonly isSecret?: boolean;
    readonly limit?: Limit & { readonly receiver: (found: Found) => string };
  },
): Operation<With, Made> {
  const schema = schemaOf(it.fields);
  return {
    ...common(noun, 'act', it, schema, limit?.receiver),
    ...{ act, names: isSecret ? 'submission' : null },
    ...(limit && { limit }),
    perform: async (needs, { input: sent, submission, signal, ...request }) => {
      const given = { ...actorOf(request), input: await checkInput(schema, sent) };
      const one = await requireOne(noun, needs.catalog, request);
      noun.requireRight?.(request, one.found);
      const runs = typeof run === 'function' ? run : await run.before(needs, { ...given, ...one, signal });
      const once = async (tx: Catalog): Promise<Made> => {
        const now = await requireOne({ ...noun, missing: gone }, tx, request);
        const made = await runs({ ...given, tx, ...now });
        await audit(tx, { ...it, ...request }, { ...noun.audited(now.found), details: details(made) });
        return made;
      };
      const result = await needs.catalog.transaction((tx) => createOnce(tx, submission, () => once(tx)));
      return { result, answer: () => it.answer(result) };
    },
  };
}

function common<In extends Place, Found>(
  noun: Noun<In, Found>,
  verb: Verb,
  { roles, audit }: Common,
  input?: TObject,
  receiverOf?: (found: Found) => string,
): Omit<Operation, 'perform'> {
  const { name, plural, of } = noun;
  const isEdit = (verb === 'change' || verb === 'set') && noun.edited !== undefined;
  return {
    verb,
    noun: { name, plural, path: of.path },
    isOfAuthor: noun.requireRight !== undefined && !['list', 'read', 'add'].includes(verb),
    roles,
    audit,
    input: Object.keys(input?.properties ?? {}).length > 0 ? input : undefined,
    names: verb === 'add' ? 'submission' : isEdit ? 'version' : null,
    status: verb === 'add' ? 201 : 200,
    find: async (catalog, target) => {
      if (verb === 'add' || verb === 'list') return { requireRight: () => {} };
      const { found } = await requireOne(noun, catalog, target);
      return {
        requireRight: (actor) => {
          if (verb !== 'read') noun.requireRight?.(actor, found);
        },
        receiver: receiverOf?.(found),
      };
    },
  };
}

function schemaOf<Fields extends TProperties>(fields: Fields): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false });
}

/** The thing that a target names, and its place. Throws `not_found`. */
async function requireOne<In extends Place, Found>(
  noun: Noun<In, Found>,
  catalog: Catalog,
  target: Target,
): Promise<{ readonly place: In; readonly found: Found }> {
  const place = await noun.of.find(catalog, target);
  const found = await noun.find(catalog, place, target.id ?? '', target.at);
  if (found === undefined) throw notFound(noun.missing);
  return { place, found };
}

/** One as answers have it, with the version that an edit must send. */
export function answerOf<In extends Place, Found>(noun: Noun<In, Found>, one: Found): object {
  return { [noun.key ?? noun.name]: noun.show(one), ...versionIn(noun, one) };
}

function versionIn<In extends Place, Found>({ edited }: Noun<In, Found>, one: Found): object {
  return edited === undefined ? {} : { version: versionOf(edited(one)) };
}

function actorOf({ by, role, at }: Actor): Actor {
  return { by, role, at };
}

async function audit(
  tx: Catalog,
  { audit: action, at, by: actor, workspace }: Actor & Pick<Target, 'workspace'> & Pick<Common, 'audit'>,
  audited: Audited,
): Promise<void> {
  if (action !== null) await recordAudit(tx, { at, workspace, actor, action, ...audited });
}
