import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Migration, readSchemaState, type SchemaState } from '../../server/catalog/schema-state.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { copyChanged, print, printJson, withStores } from '../cli.ts';
import { examples } from '../help.ts';

export function addUpgrade(program: Command): void {
  program
    .command('upgrade')
    .description('migrate the catalog to this version of the program, as every other command does too')
    .option('--check', 'only print what would be migrated')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('upgrade --check', 'upgrade'))
    .action(async ({ check, json }: { check?: boolean; json?: boolean }) => {
      const settings = readSettings(process.env);
      const state = await readSchemaState(settings);
      // A catalog of version 0.2 has no copy, and its journal is not read.
      const copies = settings.catalogUrl === '' && existsSync(join(settings.dataFolder, 'facts'));
      if (check !== true && state.pending.length > 0) {
        await withStores(({ onWarning }) =>
          copies ? copyChanged(settings, onWarning ?? print, { ifCheap: false }) : undefined,
        );
      }
      if (json) printJson({ dataFolder: settings.dataFolder, ...state, migrated: check !== true });
      else print(inWords(state, check === true));
    });
}

function inWords({ catalog, found, supported, pending, rolling }: SchemaState, isCheck: boolean): string {
  if (pending.length === 0) return `The catalog in ${catalog} is up to date (schema version ${found}).`;
  const list = pending.map(({ name, description }: Migration) => `  ${name}: ${description}`);
  if (!isCheck)
    return `The catalog in ${catalog} was migrated from schema version ${found} to ${supported}:\n${list.join('\n')}`;
  return [
    `The catalog in ${catalog} has schema version ${found}; this version of Ordinate would migrate it to ${supported}:`,
    ...list,
    rolling
      ? 'Servers of the version before go on answering meanwhile and afterwards. Make a backup first.'
      : 'Make a backup first: earlier versions cannot read the catalog afterwards, and servers of earlier versions stop answering.',
  ].join('\n');
}
