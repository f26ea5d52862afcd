#!/usr/bin/env node
import '../scripts/node-version.ts';
import './threads.ts';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command } from 'commander';
import { fail, ignoreClosedOutput } from './cli.ts';
import { addAlerts } from './commands/alerts.ts';
import { addAudit } from './commands/audit.ts';
import { addBackup } from './commands/backup.ts';
import { addCatalog } from './commands/catalog.ts';
import { addChannels } from './commands/channels.ts';
import { addConnections } from './commands/connections.ts';
import { addDemo } from './commands/demo.ts';
import { addDescribe } from './commands/describe.ts';
import { addExport } from './commands/export.ts';
import { addFeeds } from './commands/feeds.ts';
import { addImport } from './commands/import.ts';
import { addInstallService } from './commands/install-service.ts';
import { addJobs } from './commands/jobs.ts';
import { addKeys } from './commands/keys.ts';
import { addKeywords } from './commands/keywords.ts';
import { addLists } from './commands/lists.ts';
import { addLoad } from './commands/load.ts';
import { addLogin } from './commands/login.ts';
import { addMembers } from './commands/members.ts';
import { addNotes } from './commands/notes.ts';
import { addProjects } from './commands/projects.ts';
import { addProperties } from './commands/properties.ts';
import { addPrune } from './commands/prune.ts';
import { addRebuild } from './commands/rebuild.ts';
import { addRestore } from './commands/restore.ts';
import { addRules } from './commands/rules.ts';
import { addSecrets } from './commands/secrets.ts';
import { addServe } from './commands/serve.ts';
import { addShareCommands } from './commands/share.ts';
import { addStorage } from './commands/storage.ts';
import { addSync } from './commands/sync.ts';
import { addTrino } from './commands/trino.ts';
import { addUpgrade } from './commands/upgrade.ts';
import { addVerify } from './commands/verify.ts';
import { addWork } from './commands/work.ts';
import { addWorkspaces } from './commands/workspaces.ts';
import { examples, HELP } from './help.ts';
import { settingsHelp } from './settings-help.ts';

// Only the owner may read stored files, whether SQLite, DuckDB or this process writes them.
process.umask(0o077);

const { version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')) as {
  version: string;
};

/** The command line; tests read its help. */
export const program = new Command('ordinate')
  .description('Search-analytics reporting, self-hosted')
  .version(version)
  .configureHelp(HELP)
  .addHelpText('after', examples('serve --demo', 'load ./snapshot --dry-run', 'keys create --help'))
  .exitOverride()
  .showHelpAfterError('Add --help to see how it is used.');

const groups = [
  addServe,
  addWork,
  addLoad,
  addDescribe,
  addImport,
  addExport,
  addDemo,
  addWorkspaces,
  addMembers,
  addKeys,
  addAudit,
  addLogin,
  addFeeds,
  addShareCommands,
  addProperties,
  addProjects,
  addKeywords,
  addConnections,
  addLists,
  addStorage,
  addSync,
  addAlerts,
  addRules,
  addChannels,
  addNotes,
  addJobs,
  addPrune,
  addBackup,
  addRestore,
  addSecrets,
  addCatalog,
  addTrino,
  addUpgrade,
  addVerify,
  addRebuild,
  addInstallService,
];
for (const add of groups) add(program);

program.addHelpText('after', settingsHelp(''));
for (const command of program.commands) {
  command.exitOverride().addHelpText('after', settingsHelp(command.name()));
  for (const below of command.commands) {
    below.exitOverride().addHelpText('after', settingsHelp(`${command.name()} ${below.name()}`));
  }
}

if (import.meta.main) {
  ignoreClosedOutput();
  await program.parseAsync().catch(fail);
}
