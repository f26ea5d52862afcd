import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command } from 'commander';
import { examples, HELP } from './help.ts';
import { settingsHelp } from './settings-help.ts';

/** The groups of commands in the order of the help. Each is imported when it is used, which halves the start. */
const GROUPS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./commands/serve.ts')).addServe,
  work: async () => (await import('./commands/work.ts')).addWork,
  load: async () => (await import('./commands/load.ts')).addLoad,
  describe: async () => (await import('./commands/describe.ts')).addDescribe,
  import: async () => (await import('./commands/import.ts')).addImport,
  export: async () => (await import('./commands/export.ts')).addExport,
  demo: async () => (await import('./commands/demo.ts')).addDemo,
  workspaces: async () => (await import('./commands/workspaces.ts')).addWorkspaces,
  members: async () => (await import('./commands/members.ts')).addMembers,
  keys: async () => (await import('./commands/keys.ts')).addKeys,
  audit: async () => (await import('./commands/audit.ts')).addAudit,
  login: async () => (await import('./commands/login.ts')).addLogin,
  feeds: async () => (await import('./commands/feeds.ts')).addFeeds,
  share: async () => (await import('./commands/share.ts')).addShareCommands,
  properties: async () => (await import('./commands/properties.ts')).addProperties,
  projects: async () => (await import('./commands/projects.ts')).addProjects,
  keywords: async () => (await import('./commands/keywords.ts')).addKeywords,
  connections: async () => (await import('./commands/connections.ts')).addConnections,
  lists: async () => (await import('./commands/lists.ts')).addLists,
  storage: async () => (await import('./commands/storage.ts')).addStorage,
  sync: async () => (await import('./commands/sync.ts')).addSync,
  alerts: async () => (await import('./commands/alerts.ts')).addAlerts,
  rules: async () => (await import('./commands/rules.ts')).addRules,
  channels: async () => (await import('./commands/channels.ts')).addChannels,
  notes: async () => (await import('./commands/notes.ts')).addNotes,
  jobs: async () => (await import('./commands/jobs.ts')).addJobs,
  prune: async () => (await import('./commands/prune.ts')).addPrune,
  backup: async () => (await import('./commands/backup.ts')).addBackup,
  restore: async () => (await import('./commands/restore.ts')).addRestore,
  secrets: async () => (await import('./commands/secrets.ts')).addSecrets,
  catalog: async () => (await import('./commands/catalog.ts')).addCatalog,
  trino: async () => (await import('./commands/trino.ts')).addTrino,
  upgrade: async () => (await import('./commands/upgrade.ts')).addUpgrade,
  verify: async () => (await import('./commands/verify.ts')).addVerify,
  rebuild: async () => (await import('./commands/rebuild.ts')).addRebuild,
  'install-service': async () => (await import('./commands/install-service.ts')).addInstallService,
};

const { version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')) as {
  version: string;
};

/**
 * The command line for some arguments: with only the group of commands that they name, or with all groups if they name
 * none, as for help.
 */
export async function programFor(words: readonly string[]): Promise<Command> {
  const program = new Command('ordinate')
    .description('Search-analytics reporting, self-hosted')
    .version(version)
    .configureHelp(HELP)
    .addHelpText('after', examples('serve --demo', 'load ./snapshot --dry-run', 'keys create --help'))
    .exitOverride()
    .showHelpAfterError('Add --help to see how it is used.');
  const [name = ''] = words;
  const names = Object.hasOwn(GROUPS, name) ? [name] : Object.keys(GROUPS);
  for (const add of await Promise.all(names.map((group) => GROUPS[group]!()))) add(program);
  program.addHelpText('after', settingsHelp(''));
  for (const command of program.commands) {
    command.exitOverride().addHelpText('after', settingsHelp(command.name()));
    for (const below of command.commands) {
      below.exitOverride().addHelpText('after', settingsHelp(`${command.name()} ${below.name()}`));
    }
  }
  return program;
}
