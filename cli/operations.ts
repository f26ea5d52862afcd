import type { Command } from 'commander';
import type { Catalog } from '../server/catalog/catalog.ts';
import { type EntityName, flagsOf } from '../server/catalog/entities.ts';
import { findRole, type Role } from '../server/catalog/workspaces.ts';
import { KnownError } from '../server/domain/errors.ts';
import type { Microseconds } from '../server/domain/instants.ts';
import type { Needs, Operation, Target } from '../server/operations/operation.ts';
import { commandWriter } from './cli.ts';

/** What a command names, and with what values. */
export interface Named extends Partial<Omit<Target, 'at' | 'workspace'>>, Pick<Target, 'workspace'> {
  readonly input?: object;
  /** Now by default. */
  readonly at?: Microseconds;
  /** What is said if it does not exist. */
  readonly missing?: string;
  /** The member in whose name the command is run, and what owners and admins of it may do. */
  readonly by?: { readonly email: string; readonly may: string; readonly of: string } | undefined;
  /** Recorded as the author; what this member may do is not checked. */
  readonly author?: string | undefined;
}

/** Adds an option for each flag of an entity that people set. */
export function withFlags(command: Command, entity: EntityName): Command {
  for (const { column, help } of flagsOf(entity)) {
    command.option(
      `--${column.replaceAll('_', '-')}`,
      help.replace(/^./, (letter) => letter.toLowerCase()).slice(0, -1),
    );
  }
  return command;
}

/** Does by command what members do in the dashboard. Whoever can run it has the rights of an owner. */
export async function perform<With extends Needs, Result>(
  needs: With,
  operation: Operation<With, Result>,
  { workspace, project, id, input = {}, by, author = by?.email, missing, at }: Named,
): Promise<Result> {
  const target = { workspace, project, id, ...commandWriter(), ...(at !== undefined && { at }) };
  await operation.find(needs.catalog, target).catch((error: unknown) => {
    const place = project === undefined ? `workspace '${workspace}'` : `project '${project}'`;
    if (!(error instanceof KnownError) || error.code !== 'not_found') throw error;
    throw new Error(missing ?? `There is no ${operation.noun.name} '${id}' in the ${place}.`, { cause: error });
  });
  const role = by === undefined ? 'owner' : await requireManager(needs.catalog, workspace, by);
  const { signal } = new AbortController();
  const actor = { ...(author !== undefined && { by: author }), role };
  return (await operation.perform(needs, { ...target, ...actor, input, signal })).result;
}

/** The role of a member. Throws for those who may not do it, in the browser either. */
async function requireManager(catalog: Catalog, workspace: string, by: NonNullable<Named['by']>): Promise<Role> {
  const role = await findRole(catalog, workspace, by.email);
  if (role === 'owner' || role === 'admin') return role;
  const found = role === undefined ? `is not a member of ${by.of}` : `is a ${role}`;
  throw new Error(`Only an owner or admin can ${by.may}; '${by.email}' ${found}.`);
}
