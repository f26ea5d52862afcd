import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { type AuditAction, createOnce, recordAudit, type Submission } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { findProject } from '../catalog/projects.ts';
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

/** What a request names: the place, and one thing in it by its id. */
export interface Target {
  readonly workspace: string;
  readonly project: string | undefined;
  readonly id: string | undefined;
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
    const found = project === undefined ? undefined : await findProject(catalog, workspace, project);
    if (found === undefined) throw notFound('There is no such project.');
    return { workspace, project: found.id };
  },
};

export const OF_WORKSPACE: Scope<Place> = { path: '', find: async (_, { workspace }) => ({ workspace }) };

/** What operations are about: things of a place that have ids, or a setting that each place has once. */
export interface Noun<In extends Place, Found> {
  /** In paths and answers: `view`. */
  readonly name: string;
  /** In paths: `views`; null for a setting. */
  readonly plural: string | null;
  readonly of: Scope<In>;
  /** Undefined if the place has no such thing. `id`: '' for a setting. */
  readonly find: (catalog: Catalog, place: In, id: string) => Promise<Found | undefined>;
  /** The message of the 404. It names nothing, and so reveals nothing about other workspaces. */
  readonly missing: string;
  /** Throws `forbidden` for what the role alone does not decide. */
  readonly requireRight?: (actor: Pick<Actor, 'by' | 'role'>, found: Found) => void;
  /** What people edit of it: an edit of an older state is refused as `outdated`. */
  readonly edited: (found: Found) => object;
  /** As answers have it. */
  readonly show: (found: Found) => object;
  /** What the audit trail keeps of it. */
  readonly audited: (found: Found) => { readonly subject: string; readonly details: Readonly<Record<string, unknown>> };
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

interface Declared<Fields extends TProperties> {
  readonly roles: readonly Role[];
  readonly audit: AuditAction;
  /** What may be sent. The schemas have the rules of single fields; `run` has those of several. */
  readonly fields: Fields;
}

export type Verb = 'read' | 'add' | 'change' | 'set' | 'remove';

/** What is asked for. */
export interface OperationRequest extends Target, Actor {
  readonly input: unknown;
  /** The version that the member has read; undefined skips the check. */
  readonly version?: string | undefined;
  /** The form that was submitted; submitted again, it gets the first result. */
  readonly submission?: Submission | undefined;
}

/** Something that members do. Routes are made from it, and check the role. */
export interface Operation {
  readonly verb: Verb;
  readonly noun: Pick<Noun<Place, unknown>, 'name' | 'plural'> & { readonly path: string };
  readonly roles: readonly Role[];
  /** What may be sent; undefined for nothing. */
  readonly input: TObject | undefined;
  /**
   * Finds the target, before the input is looked at. Throws `not_found`; the result throws `forbidden` for what the role
   * alone does not decide.
   */
  readonly find: (catalog: Catalog, target: Target) => Promise<(actor: Pick<Actor, 'by' | 'role'>) => void>;
  /**
   * Does it, a change in one transaction with its entry of the audit trail. Returns the answer; undefined for a removal.
   * Throws `invalid_request` for input, `not_found`, `forbidden`, `outdated` for another version, and `conflict`.
   */
  readonly perform: (catalog: Catalog, request: OperationRequest) => Promise<object | undefined>;
}

/** Reads one, with the version that an edit must send. */
export function reads<In extends Place, Found>(noun: Noun<In, Found>, roles: readonly Role[]): Operation {
  return {
    ...common(noun, 'read', roles),
    perform: async (catalog, target) => answerOf(noun, (await requireOne(noun, catalog, target)).found),
  };
}

/** @param run returns what was added */
export function adds<In extends Place, Found, Fields extends TProperties>(
  noun: Noun<In, Found>,
  { run, ...it }: Declared<Fields> & { readonly run: (work: Work<In, Static<TObject<Fields>>>) => Promise<Found> },
): Operation {
  const schema = schemaOf(it.fields);
  return {
    ...common(noun, 'add', it.roles, schema),
    perform: async (catalog, { input: sent, submission, ...request }) => {
      const input = await checkInput(schema, sent);
      const add = async (tx: Catalog): Promise<Found> => {
        const added = await run({ ...actorOf(request), tx, place: await noun.of.find(tx, request), input });
        await audit(noun, tx, { ...it, ...request }, added);
        return added;
      };
      return answerOf(noun, await catalog.transaction((tx) => createOnce(tx, submission, () => add(tx))));
    },
  };
}

/** Changes one thing, or a setting. @param run returns it after the change */
export function changes<In extends Place, Found, Fields extends TProperties>(
  noun: Noun<In, Found>,
  {
    run,
    ...it
  }: Declared<Fields> & { readonly run: (work: WorkOn<In, Static<TObject<Fields>>, Found>) => Promise<Found> },
): Operation {
  const schema = schemaOf(it.fields);
  return {
    ...common(noun, noun.plural === null ? 'set' : 'change', it.roles, schema),
    perform: async (catalog, { input: sent, version, ...request }) => {
      const input = await checkInput(schema, sent);
      return catalog.transaction(async (tx) => {
        const { place, found: before } = await requireOne(noun, tx, request);
        noun.requireRight?.(request, before);
        requireVersion(versionOf(noun.edited(before)), version);
        const after = await run({ ...actorOf(request), tx, place, input, found: before });
        await audit(noun, tx, { ...it, ...request }, after);
        return answerOf(noun, after);
      });
    },
  };
}

/** Removes one thing; does nothing, and audits nothing, if it is already gone. */
export function removes<In extends Place, Found>(
  noun: Noun<In, Found>,
  {
    run,
    ...it
  }: Omit<Declared<Record<never, never>>, 'fields'> & {
    readonly run: (work: WorkOn<In, object, Found>) => Promise<unknown>;
  },
): Operation {
  return {
    ...common(noun, 'remove', it.roles),
    perform: async (catalog, request) => {
      await catalog.transaction(async (tx) => {
        const place = await noun.of.find(tx, request);
        const before = await noun.find(tx, place, request.id ?? '');
        if (before === undefined) return;
        noun.requireRight?.(request, before);
        await run({ ...actorOf(request), tx, place, input: {}, found: before });
        await audit(noun, tx, { ...it, ...request }, before);
      });
      return undefined;
    },
  };
}

function common<In extends Place, Found>(
  noun: Noun<In, Found>,
  verb: Verb,
  roles: readonly Role[],
  input?: TObject,
): Omit<Operation, 'perform'> {
  const { name, plural, of } = noun;
  return {
    verb,
    noun: { name, plural, path: of.path },
    roles,
    input,
    find: async (catalog, target) => {
      if (verb === 'add') return () => {};
      const { found } = await requireOne(noun, catalog, target);
      return (actor) => {
        if (verb !== 'read') noun.requireRight?.(actor, found);
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
  const found = await noun.find(catalog, place, target.id ?? '');
  if (found === undefined) throw notFound(noun.missing);
  return { place, found };
}

/** One as answers have it, with the version that an edit must send. */
function answerOf<In extends Place, Found>(noun: Noun<In, Found>, one: Found): object {
  return { [noun.name]: noun.show(one), version: versionOf(noun.edited(one)) };
}

function actorOf({ by, role, at }: Actor): Actor {
  return { by, role, at };
}

async function audit<In extends Place, Found>(
  noun: Noun<In, Found>,
  tx: Catalog,
  { audit: action, at, by: actor, workspace }: Actor & Pick<Target, 'workspace'> & { readonly audit: AuditAction },
  one: Found,
): Promise<void> {
  await recordAudit(tx, { at, workspace, actor, action, ...noun.audited(one) });
}
