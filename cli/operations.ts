import type { Catalog } from '../server/catalog/catalog.ts';
import type { Operation, Target } from '../server/operations/operation.ts';
import { commandWriter } from './cli.ts';

/** Does by command what members do in the dashboard. Whoever can run it has the rights of an owner. */
export async function perform(
  catalog: Catalog,
  operation: Operation,
  { input = {}, ...target }: Target & { readonly input?: object },
): Promise<object | undefined> {
  await operation.find(catalog, target);
  return operation.perform(catalog, { ...target, ...commandWriter(), role: 'owner', input });
}
