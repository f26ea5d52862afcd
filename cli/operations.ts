import { KnownError } from '../server/domain/errors.ts';
import type { Needs, Operation, Target } from '../server/operations/operation.ts';
import { commandWriter } from './cli.ts';

/** What a command names, and with what values. */
interface Request extends Partial<Omit<Target, 'at' | 'workspace'>>, Pick<Target, 'workspace'> {
  readonly input?: object;
}

/** Does by command what members do in the dashboard. Whoever can run it has the rights of an owner. */
export async function perform<With extends Needs, Result>(
  needs: With,
  operation: Operation<With, Result>,
  { workspace, project, id, input = {} }: Request,
): Promise<Result> {
  const target = { workspace, project, id, ...commandWriter() };
  await operation.find(needs.catalog, target).catch((error: unknown) => {
    const place = project === undefined ? `workspace '${workspace}'` : `project '${project}'`;
    if (!(error instanceof KnownError) || error.code !== 'not_found') throw error;
    throw new Error(`There is no ${operation.noun.name} '${id}' in the ${place}.`, { cause: error });
  });
  const { signal } = new AbortController();
  return (await operation.perform(needs, { ...target, role: 'owner', input, signal })).result;
}
