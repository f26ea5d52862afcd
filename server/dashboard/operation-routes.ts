import type { Context } from '../api/context.ts';
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

/** What `Operation.find` returns. */
type Right = Awaited<ReturnType<Operation['find']>>;

/** What the header of a request names. */
type Named = Pick<OperationRequest, 'version' | 'submission'>;

/** Adds the routes of operations below `/app/api`. */
export function addOperations<With extends Needs>(
  add: AddAction,
  { publicUrl, now }: Pick<Context, 'publicUrl' | 'now'>,
  needs: With,
  operations: readonly Operation<With>[],
): void {
  for (const operation of operations) {
    const { verb, noun, roles, input, status } = operation;
    const targetOf = ({ workspace, project, ids }: Wanted): Target => ({
      ...{ workspace, project: project?.id, at: now() * 1000 },
      id: verb === 'add' || verb === 'list' ? undefined : ids[noun.name],
    });
    const run = async (call: Call<unknown, unknown>, { version, submission }: Named = {}) => {
      const { by, role, at, body, signal, request, reply } = call;
      const wanted = { ...targetOf(call), by, role, at, input: body ?? {}, signal, version, submission };
      const { answer } = await operation.perform(needs, wanted);
      if (operation.isSecret) reply.header('cache-control', 'no-store');
      // Without a public address, the one that the browser uses.
      return answer(publicUrl ?? `${request.protocol}://${request.host}`);
    };
    const common = {
      ...{ url: urlOf(operation), roles, status },
      ...(input && { body: input }),
      find: (wanted: Wanted) => operation.find(needs.catalog, targetOf(wanted)),
      requireRight: ({ found: requireRight, by, role }: Pick<Call<unknown, Right>, 'by' | 'role' | 'found'>) =>
        requireRight({ by, role }),
    };
    const method = METHODS[verb];
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

/** `/projects/:id/views` to add one, `/projects/:id/views/:view` for one of them, `/projects/:id/tags` for a setting. */
function urlOf({ verb, act, noun: { name, plural, path } }: Operation<never>): string {
  if (plural === null) return `${path}/${name}`;
  if (verb === 'add' || verb === 'list') return `${path}/${plural}`;
  return `${path}/${plural}/:${name}${act === undefined ? '' : `/${act}`}`;
}
