import { type Command, InvalidArgumentError, Option } from 'commander';
import { addMember, listMembers, ROLES, type Role } from '../../server/catalog/workspaces.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface AddOptions {
  readonly workspace: string;
  readonly email: string;
  readonly role: Role;
  readonly json?: boolean;
}

export function addMembers(program: Command): void {
  const command = program.command('members').description('add and list members of a workspace');
  command
    .command('add')
    .description('add a member, or change the role of one')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--email <email>', 'address of the member', readEmail)
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).makeOptionMandatory())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('members add --workspace acme --email owner@acme.example --role owner'))
    .action(async ({ workspace, email, role, json }: AddOptions) => {
      await withStores(({ catalog }) => addMember(catalog, workspace, email, role));
      if (json) printJson({ workspace, email, role });
      else print(`'${email}' is ${role} of workspace '${workspace}'.`);
    });
  command
    .command('list')
    .description('list the members of a workspace')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('members list --workspace acme'))
    .action(async ({ workspace, json }: { workspace: string; json?: boolean }) => {
      const rows = await withStores(({ catalog }) => listMembers(catalog, workspace));
      if (json) printJson(rows);
      else await printTable(rows, `Workspace '${workspace}' has no members yet.`);
    });
}

function readEmail(text: string): string {
  if (!/^\S+@\S+$/.test(text)) throw new InvalidArgumentError('It must be an e-mail address.');
  return text;
}
