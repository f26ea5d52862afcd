import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Day, parseDay } from '../../server/domain/dates.ts';
import type { ExportOptions } from '../../server/export/export.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options extends Omit<ExportOptions, 'folder' | 'now' | 'report'> {
  readonly out: string;
  readonly json?: boolean;
}

export function addExport(program: Command): void {
  program
    .command('export')
    .description('write a snapshot of a project or workspace, which load takes')
    .option('--project <id>', 'a project')
    .option('--workspace <id>', 'all projects of a workspace')
    .requiredOption('--out <folder>', 'a new or empty folder')
    .addOption(new Option('--format <format>', 'of the files').choices(['parquet', 'csv']).default('parquet'))
    .option('--from <day>', 'first day of facts', readDay)
    .option('--to <day>', 'last day of facts', readDay)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('export --workspace acme --out ./backup', 'export --project Shop1 --out ./shop --format csv --from 2026-01-01')}

Keys, members, connections and evaluated alerts are not part of a snapshot.`,
    )
    .action(async ({ out, json, ...options }: Options) => {
      const { exportSnapshot } = await import('../../server/export/export.ts');
      const { report, end } = progress();
      try {
        const summary = await withStores((stores) => exportSnapshot(stores, { ...options, folder: out, report }));
        end();
        if (json) {
          printJson(summary);
          return;
        }
        for (const warning of summary.warnings) print(`Warning: ${warning}`);
        for (const [table, rows] of Object.entries(summary.tables))
          print(`${table}: ${rows.toLocaleString('en')} rows`);
        const { files, bytes, folder } = summary;
        print(`Exported ${files} files, ${(bytes / 1e6).toFixed(1)} MB, to ${folder}.`);
      } finally {
        end();
      }
    });
}

function readDay(text: string): Day {
  const day = parseDay(text);
  if (day === undefined) throw new InvalidArgumentError('It must be a calendar day written YYYY-MM-DD.');
  return day;
}
