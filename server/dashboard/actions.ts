import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Context } from '../api/context.ts';
import { sendError } from '../api/plugins/errors.ts';
import type { Member } from '../api/principal.ts';
import { SUBMISSION_KEY, type Submission } from '../catalog/audit.ts';
import type { Project } from '../catalog/projects.ts';
import type { Role } from '../catalog/workspaces.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { checkInput } from '../operations/input.ts';
import { isManagerRole } from '../operations/rights.ts';
import { findReadableProject } from '../presets/preset.ts';

const MAX_BODY = 65_536;

/** What a member wants to do. */
export interface Wanted {
  readonly workspace: string;
  /** The parts of the path. */
  readonly ids: Readonly<Record<string, string>>;
  /** That of `:id` after `/projects`; other paths have none. */
  readonly project: Project | undefined;
  readonly query: unknown;
  readonly signal: AbortSignal;
}

/** The same, after all checks. */
export interface Call<Body, Found> extends Wanted {
  /** The email address, for the audit trail. */
  readonly by: string;
  readonly role: Role;
  readonly at: Microseconds;
  readonly body: Body;
  readonly found: Found;
  readonly request: FastifyRequest;
  /** For headers, and the status of some results. */
  readonly reply: FastifyReply;
}

interface Created {
  /** The form that was submitted, for `createOnce`. */
  readonly submission: Submission;
}

interface ActionFields<Body extends TSchema, Found> {
  /** Below `/app/api`. */
  readonly url: string;
  readonly roles: readonly Role[];
  /** The status of a result; `undefined` is answered with 204. */
  readonly status?: 200 | 201 | 202;
  /** The fields of the body, an object; none are taken without it. */
  readonly body?: Body;
  /** No body counts as one without fields. */
  readonly isBodyOptional?: true;
  /** Finds what the path names besides the project. Throws `not_found`. */
  readonly find?: (wanted: Wanted) => Found | Promise<Found>;
  /** Throws `forbidden` for what the role alone does not decide. */
  readonly requireRight?: (who: Pick<Call<unknown, Found>, 'by' | 'role' | 'found'>) => void;
  /** Throws `invalid_request` for values and `conflict` for states that it does not allow. */
  readonly run: (call: Call<Static<Body>, Found>) => unknown;
}

/** Sent twice, it creates once: requests have a key of their form, as `Idempotency-Key`. */
interface Creation<Body extends TSchema, Found> extends Omit<ActionFields<Body, Found>, 'run'> {
  readonly method: 'POST';
  readonly creates: true;
  readonly run: (call: Call<Static<Body>, Found> & Created) => unknown;
}

interface Edited {
  /** Of what the member has read, for `requireVersion`. */
  readonly version: string;
}

/** Changes what people edit: requests have the version that was read, as `If-Match`. */
interface Edit<Body extends TSchema, Found> extends Omit<ActionFields<Body, Found>, 'run'> {
  readonly method: 'PUT' | 'PATCH';
  readonly edits: true;
  readonly run: (call: Call<Static<Body>, Found> & Edited) => unknown;
}

/** Sets what nobody edits: a mark of one's own, a new secret. */
interface Setting<Body extends TSchema, Found> extends ActionFields<Body, Found> {
  readonly method: 'PUT' | 'PATCH';
  readonly edits: false;
}

interface OtherAction<Body extends TSchema, Found> extends ActionFields<Body, Found> {
  readonly method: 'GET' | 'DELETE';
}

/** Creates nothing, although it is a POST: a preview, a test. */
interface Asking<Body extends TSchema, Found> extends ActionFields<Body, Found> {
  readonly method: 'POST';
  readonly creates: false;
}

export type AddAction = <Body extends TSchema = TSchema, Found = undefined>(
  action:
    | Creation<Body, Found>
    | Asking<Body, Found>
    | Edit<Body, Found>
    | Setting<Body, Found>
    | OtherAction<Body, Found>,
) => void;

/**
 * Prepares a scope for what members do in the browser. Each action checks, in this order: origin and session (the guard
 * of the scope), the path (404), the role (403), the body (400). Changes to the state (409) are the action's own.
 */
export function takeActions(api: FastifyInstance, context: Context): AddAction {
  api.removeAllContentTypeParsers();
  // Parsed after the path and the role were checked.
  api.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY }, (_request, body, done) => done(null, body));
  api.setErrorHandler<FastifyError>((error, request, reply) => {
    const isTooLong = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    return sendError(isTooLong ? invalidRequest(`The body is longer than ${MAX_BODY} bytes.`) : error, request, reply);
  });
  return (action) => {
    const { method, url, roles, status = 200, body: schema, isBodyOptional = false, find, requireRight } = action;
    api.route({
      method,
      url,
      schema: { hide: true },
      handler: async (request, reply) => {
        const { principal, query, signal } = request;
        const { workspace } = principal!;
        const ids = request.params as Wanted['ids'];
        const isOfProject = url.startsWith('/projects/:id');
        const project = isOfProject ? await findReadableProject(context, { workspace, id: ids['id']! }) : undefined;
        const wanted = { workspace, ids, project, query, signal };
        // An action without `find` has no use for what it finds.
        const found = (await find?.(wanted))!;
        const { email: by, role } = requireRole(principal!.member, roles);
        requireRight?.({ by, role, found });
        const isLeftOut = isBodyOptional && (request.body ?? '') === '';
        const body = schema === undefined ? requireNone(request) : isLeftOut ? {} : await readBody(schema, request);
        const at = toMicroseconds(context.now());
        reply.code(status);
        const call = { ...wanted, by, role, at, body: body as never, found, request, reply };
        const result = await (action.method === 'POST' && action.creates
          ? action.run({ ...call, submission: submissionOf(call) })
          : 'edits' in action && action.edits
            ? action.run({ ...call, version: versionRead(request) })
            : action.run(call));
        return result === undefined ? reply.code(204).send() : result;
      },
    });
  };
}

/** The form that a request comes from. Throws `invalid_request` without its key. */
function submissionOf({ workspace, by, at, request }: Call<unknown, unknown>): Submission {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || !SUBMISSION_KEY.test(key)) {
    throw invalidRequest('Idempotency-Key must be a random UUID that the form has made, so that it creates once.');
  }
  return { key, workspace, by, at, method: request.method, path: request.url, body: (request.body ?? '') as string };
}

/** The version that a member has read. Throws `invalid_request` without it. */
function versionRead({ headers }: FastifyRequest): string {
  const [, version] = /^"([0-9a-f]{32})"$/.exec(headers['if-match'] ?? '') ?? [];
  if (version === undefined) {
    throw invalidRequest('If-Match must be the version that was read, in quotes, so that no change of others is lost.');
  }
  return version;
}

/** Whether a member may do what owners and admins do. */
export function isManager(member: Member | null): boolean {
  return member !== null && isManagerRole(member.role);
}

/** Throws `forbidden` for other roles. */
function requireRole(member: Member | null, roles: readonly Role[]): Member {
  if (member !== null && roles.includes(member.role)) return member;
  const allowed = roles.map((role) => `${/^[ao]/.test(role) ? 'an' : 'a'} ${role}`).join(' or ');
  const found = member === null ? 'this session belongs to a key, which reads only' : `your role is ${member.role}`;
  throw new KnownError('forbidden', `Only ${allowed} of the workspace may do this; ${found}.`);
}

function jsonOf({ headers, body }: FastifyRequest): unknown {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw invalidRequest('The body must be JSON, sent with Content-Type: application/json.');
  }
  try {
    return JSON.parse(String(body));
  } catch {
    throw invalidRequest('The body must be JSON.');
  }
}

function requireNone(request: FastifyRequest): undefined {
  const { body } = request;
  if (body === undefined || body === null || body === '') return;
  const sent = jsonOf(request);
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw invalidRequest('The body must be a JSON object, or left out.');
  const [name] = Object.keys(sent);
  if (name !== undefined) throw invalidRequest(`'${name.slice(0, 40)}' is not a field of this request; it has none.`);
}

/** The JSON body of a request. Throws `invalid_request` with the name of a field that is unknown, wrong or missing. */
export async function readBody<Body extends TSchema>(schema: Body, request: FastifyRequest): Promise<Static<Body>> {
  return checkInput(schema, jsonOf(request));
}
