import { type Command, Option } from 'commander';
import { INVITATION_DAYS, signInAddress } from '../../server/catalog/sessions.ts';
import { addMember, listMembers, ROLES, type Role } from '../../server/catalog/workspaces.ts';
import { isoInstant } from '../../server/domain/instants.ts';
import { memberInvitation, memberRemoval } from '../../server/operations/members.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { perform } from '../operations.ts';
import { serverOf } from './login.ts';

interface AddOptions {
  readonly workspace: string;
  readonly email: string;
  readonly role: Role;
  readonly json?: boolean;
}

export function addMembers(program: Command): void {
  const command = program.command('members').description('add, invite, list and remove members of a workspace');
  command
    .command('add')
    .description('add a member, or change the role of one')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--email <email>', 'address of the member')
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).makeOptionMandatory())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('members add --workspace acme --email owner@acme.example --role owner'))
    .action(async ({ workspace, email, role, json }: AddOptions) => {
      await withStores(({ catalog }) => addMember(catalog, workspace, email, role));
      if (json) printJson({ workspace, email, role });
      else print(`'${email}' is ${role} of workspace '${workspace}'.`);
    });
  command
    .command('invite')
    .description(`print a link that makes somebody a member; it works once, within ${INVITATION_DAYS} days`)
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--email <email>', 'address of the new member')
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).makeOptionMandatory())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('members invite --workspace acme --email new@acme.example --role member'))
    .action(async ({ workspace, email, role, json }: AddOptions) => {
      const { invitation, url } = await withStores(async (stores) => {
        const made = await perform(stores, memberInvitation, { workspace, input: { email, role } });
        const server = stores.settings.publicUrl ?? serverOf(stores.settings);
        return { ...made, url: signInAddress(server, made.token) };
      });
      const expiresAt = isoInstant(invitation.expiresAt);
      if (json) printJson({ invitation: { id: invitation.id, email, role, expiresAt }, url });
      else print(`This link makes '${email}' ${role} of workspace '${workspace}', once, until ${expiresAt}:\n  ${url}`);
    });
  command
    .command('remove')
    .description('remove a member, whose sessions end at once')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--email <email>', 'address of the member')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('members remove --workspace acme --email old@acme.example'))
    .action(async ({ workspace, email, json }: Omit<AddOptions, 'role'>) => {
      await withStores((stores) => perform(stores, memberRemoval, { workspace, id: email }));
      if (json) printJson({ workspace, email });
      else print(`'${email}' is no longer a member of workspace '${workspace}'.`);
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
