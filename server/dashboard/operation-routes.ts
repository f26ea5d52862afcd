import type { Context } from '../api/context.ts';
import type { Operation, OperationRequest, Target, Verb } from '../operations/operation.ts';
import type { AddAction, Call, Wanted } from './actions.ts';

/** The method of each verb. */
const METHODS = { read: 'GET', add: 'POST', change: 'PATCH', set: 'PUT', remove: 'DELETE' } as const satisfies Record<
  Verb,
  string
>;

/** What `Operation.find` returns. */
type Right = Awaited<ReturnType<Operation['find']>>;

/** Adds the routes of operations below `/app/api`. */
export function addOperations(
  add: AddAction,
  { catalog }: Pick<Context, 'catalog'>,
  operations: readonly Operation[],
): void {
  for (const operation of operations) {
    const { verb, noun, roles, input, perform } = operation;
    const idOf = ({ ids }: Wanted): string | undefined => (verb === 'add' ? undefined : ids[noun.name]);
    const targetOf = (wanted: Wanted): Target => ({
      workspace: wanted.workspace,
      project: wanted.project?.id,
      id: idOf(wanted),
    });
    const requestOf = (call: Call<unknown, unknown>): OperationRequest => {
      const { by, role, at, body } = call;
      return { ...targetOf(call), by, role, at, input: body };
    };
    const common = {
      url: urlOf(operation),
      roles,
      ...(input && { body: input }),
      find: (wanted: Wanted) => operation.find(catalog, targetOf(wanted)),
      requireRight: ({ found: requireRight, by, role }: Pick<Call<unknown, Right>, 'by' | 'role' | 'found'>) =>
        requireRight({ by, role }),
    };
    if (verb === 'add') {
      const run = ({ submission, ...call }: Call<unknown, unknown> & Pick<OperationRequest, 'submission'>) =>
        perform(catalog, { ...requestOf(call), submission });
      add({ ...common, method: METHODS[verb], creates: true, status: 201, run });
    } else if (verb === 'change' || verb === 'set') {
      const run = ({ version, ...call }: Call<unknown, unknown> & Pick<OperationRequest, 'version'>) =>
        perform(catalog, { ...requestOf(call), version });
      add({ ...common, method: METHODS[verb], edits: true, run });
    } else {
      const run = (call: Call<unknown, unknown>) => perform(catalog, requestOf(call));
      add({ ...common, method: METHODS[verb], run });
    }
  }
}

/** `/projects/:id/views` to add one, `/projects/:id/views/:view` for one of them, `/projects/:id/tags` for a setting. */
function urlOf({ verb, noun: { name, plural, path } }: Operation): string {
  if (plural === null) return `${path}/${name}`;
  return verb === 'add' ? `${path}/${plural}` : `${path}/${plural}/:${name}`;
}
