import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type CatalogLocation, sqliteIn } from '../../server/catalog/location.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly to: string;
  readonly move?: boolean;
  readonly json?: boolean;
}

export function addCatalog(program: Command): void {
  const command = program.command('catalog').description('move the catalog to another place');
  command
    .command('copy')
    .description('copy the catalog into a PostgreSQL database, or into a folder, and compare both')
    .requiredOption(
      '--to <place>',
      'the address of an empty database, such as postgres://user@host/database, or a folder',
    )
    .option('--move', 'make the source read-only, because the copy would lack later changes')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('catalog copy --to postgres://ordinate@db.example.com/ordinate', 'catalog copy --to ./data --move')}

With --move, and from a folder into a database always, the source is still read but takes no more changes. Without it the copy is a backup: what is changed later is not in it. The password is best in PGPASSWORD or a password file. Files of facts and lists are not copied.`,
    )
    .action(async ({ to, move = false, json }: Options) => {
      const target = placeOf(to);
      const { report, end } = progress({ lines: true });
      try {
        const { copyCatalogTo, copyUses } = await import('../../server/catalog/copy.ts');
        const copied = await withStores(async ({ settings, catalog }) => {
          const done = await copyCatalogTo(catalog, { from: settings, target, move, report });
          const uses = done.state === 'copied' ? await copyUses(settings, target) : 0;
          if (target.catalogUrl === '') await renewJournal(target);
          return { ...done, uses };
        });
        end();
        if (json) {
          printJson(copied);
          return;
        }
        const rows = copied.tables.reduce((sum, table) => sum + table.rows, 0).toLocaleString('en');
        if (copied.state === 'unchanged') print(`The same catalog is in ${copied.to} already: ${rows} rows.`);
        else
          print(`Copied the catalog to ${copied.to} and compared it: ${rows} rows in ${copied.tables.length} tables.`);
        if (target.catalogUrl !== '') print('Set ORDINATE_CATALOG to its address and start the servers again.');
        else print('Start the server without ORDINATE_CATALOG.');
      } finally {
        end();
      }
    });
}

/** Parses `--to`. */
function placeOf(to: string): CatalogLocation {
  if (!/^\w+:\/\//.test(to)) return sqliteIn(resolve(to));
  const { catalogUrl } = readSettings({ ORDINATE_CATALOG: to });
  return { dataFolder: '', catalogUrl };
}

/** Begins the copies and records of a folder with the catalog that was put there. */
async function renewJournal({ dataFolder }: CatalogLocation): Promise<void> {
  const { Journal } = await import('../../server/load/journal.ts');
  await new Journal(dataFolder).beginAnew();
}
