import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../api/context.ts';
import { tooMany } from '../api/plugins/guard.ts';
import type { Needs, Operation, OperationRequest, Target, Verb } from '../operations/operation.ts';
import type { AddAction, Call, Wanted } from './actions.ts';

/** The method of each verb. */
const METHODS = {
  list: 'GET',
  read: 'GET',
  add: 'POST',
  change: 'PATCH',
  set: 'PUT',
  remove: 'DELETE',
  act: 'POST',
} as const satisfies Record<Verb, string>;

const MINUTE = 60_000;

/** What `Operation.find` returns. */
type Found = Awaited<ReturnType<Operation['find']>>;

/** What the header of a request names. */
type Named = Pick<OperationRequest, 'version' | 'submission'>;

/** Adds the routes of operations below `/app/api`. */
export function addOperations<With extends Needs>(
  api: FastifyInstance,
  add: AddAction,
  { publicUrl, now }: Pick<Context, 'publicUrl' | 'now'>,
  needs: With,
  operations: readonly Operation<With>[],
): void {
  for (const operation of operations) {
    const { verb, noun, roles, input, status } = operation;
    const { method, url } = routeOf(operation);
    const targetOf = ({ workspace, project, ids }: Wanted): Target => ({
      ...{ workspace, project: project?.id, at: now() * 1000 },
      id: verb === 'add' || verb === 'list' ? undefined : ids[noun.name],
    });
    const count = limiter(api, operation.limit);
    const run = async (call: Call<unknown, Found>, { version, submission }: Named = {}) => {
      const { by, role, at, body, found, signal, request } = call;
      if (found.receiver !== undefined) await count?.(request, found.receiver);
      const wanted = { ...targetOf(call), by, role, at, input: body ?? {}, signal, version, submission };
      const { answer } = await operation.perform(needs, wanted);
      // Without a public address, the one that the browser uses.
      return answer(publicUrl ?? `${request.protocol}://${request.host}`);
    };
    const common = {
      ...{ url, roles, status },
      ...(input && { body: input }),
      ...(verb === 'act' && input && !('required' in input) && { isBodyOptional: true as const }),
      find: (wanted: Wanted) => operation.find(needs.catalog, targetOf(wanted)),
      requireRight: ({ found, by, role }: Pick<Call<unknown, Found>, 'by' | 'role' | 'found'>) =>
        found.requireRight({ by, role }),
    };
    if (method === 'POST') {
      add(
        operation.names === 'submission'
          ? { ...common, method, creates: true, run: (call) => run(call, call) }
          : { ...common, method, creates: false, run: (call) => run(call) },
      );
    } else if (method === 'PUT' || method === 'PATCH') {
      add(
        operation.names === 'version'
          ? { ...common, method, edits: true, run: (call) => run(call, call) }
          : { ...common, method, edits: false, run: (call) => run(call) },
      );
    } else {
      add({ ...common, method, run: (call) => run(call) });
    }
  }
}

/** Counts what is done to a receiver in a minute. The returned function throws `rate_limited` after too many. */
function limiter(
  api: FastifyInstance,
  limit: Operation['limit'],
): ((request: FastifyRequest, receiver: string) => Promise<void>) | undefined {
  if (limit === undefined) return undefined;
  const receivers = new WeakMap<FastifyRequest, string>();
  const count = api.createRateLimit({
    timeWindow: MINUTE,
    max: limit.most,
    keyGenerator: (request) => receivers.get(request) ?? '',
  });
  return async (request, receiver) => {
    receivers.set(request, receiver.toLowerCase());
    const counted = await count(request);
    if (counted.isAllowed) throw new Error('the limit must count every receiver');
    if (counted.isExceeded) throw tooMany(`${limit.what} to ${receiver}`, counted.ttlInSeconds);
  };
}

/**
 * The method of an operation, and its path: `/projects/:id/views` to add one, `/projects/:id/views/:view` for one of them,
 * `/projects/:id/tags` for a setting.
 */
export function routeOf({ verb, act, noun: { name, plural, path } }: Operation<never>) {
  const method = METHODS[verb];
  if (plural === null) return { method, url: `${path}/${name}` };
  if (verb === 'add' || verb === 'list') return { method, url: `${path}/${plural}` };
  return { method, url: `${path}/${plural}/:${name}${act === undefined ? '' : `/${act}`}` };
}
