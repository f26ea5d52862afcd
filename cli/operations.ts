import type { Catalog } from '../server/catalog/catalog.ts';
import { KnownError } from '../server/domain/errors.ts';
import type { Operation, Target } from '../server/operations/operation.ts';
import { commandWriter } from './cli.ts';

/** Does by command what members do in the dashboard. Whoever can run it has the rights of an owner. */
export async function perform(
  catalog: Catalog,
  operation: Operation,
  { input = {}, ...target }: Target & { readonly input?: object },
): Promise<object | undefined> {
  await operation.find(catalog, target).catch((error: unknown) => {
    const { workspace, project, id } = target;
    const place = project === undefined ? `workspace '${workspace}'` : `project '${project}'`;
    if (!(error instanceof KnownError) || error.code !== 'not_found') throw error;
    throw new Error(`There is no ${operation.noun.name} '${id}' in the ${place}.`, { cause: error });
  });
  return operation.perform(catalog, { ...target, ...commandWriter(), role: 'owner', input });
}
