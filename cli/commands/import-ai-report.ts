import { type Command, InvalidArgumentError } from 'commander';
import type { Day } from '../../server/domain/dates.ts';
import { AI_COLUMNS, type AiMap } from '../../server/import/ai-table.ts';
import { print, printJson, printTable, progress, withStores, withStoresForDryRun } from '../cli.ts';
import { evaluateAfter } from '../evaluate.ts';
import { examples } from '../help.ts';
import { addName, rangeOf, readDay } from './import-search-console.ts';
import { printSummary, withAlerts } from './load.ts';

interface Options {
  readonly workspace: string;
  readonly property: string;
  readonly columns?: AiMap;
  readonly ignoreColumn?: readonly string[];
  readonly from?: Day;
  readonly to?: Day;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addAiReport(command: Command): void {
  command
    .command('ai-report')
    .description("import exports of Google's generative-AI report or Bing's AI performance report")
    .argument('<path...>', 'CSV or zip files, or folders of them')
    .requiredOption('--workspace <id>', 'the workspace of the project')
    .requiredOption('--property <property>', 'the property of a project that exists')
    .option('--columns <names>', `other headers, as in date=Day,citations=Count: ${AI_COLUMNS.join(', ')}`, readColumns)
    .option('--ignore-column <name>', 'a column that does not change what rows count; give it once for each', addName)
    .option('--from <day>', 'first day of lists of pages whose export does not have their days', readDay)
    .option('--to <day>', 'last day of these lists', readDay)
    .option('--force', 'import files or pages of another property')
    .option('--dry-run', 'show what is there and how it fits')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples(
        'import ai-report export.zip --workspace acme --property sc-domain:acme.example',
        'import ai-report pages.csv --workspace acme --property sc-domain:acme.example --from 2026-10-01 --to 2026-10-28',
      )}

Impressions and citations in AI answers are stored apart from clicks and impressions, and never added to them.`,
    )
    .action(async (paths: string[], { json, from, to, ignoreColumn, dryRun = false, ...rest }: Options) => {
      const range = rangeOf(from, to);
      const ignoring = ignoreColumn ? { ignoredColumns: ignoreColumn } : {};
      const { importAiReport } = await import('../../server/import/ai-report.ts');
      const { report, end } = progress();
      try {
        const summary = await (dryRun ? withStoresForDryRun : withStores)(async (stores) => {
          const imported = await importAiReport(stores, { ...rest, ...range, paths, dryRun, report, ...ignoring });
          return withAlerts(imported, await evaluateAfter(stores, imported.loaded ? imported.projects : [], report));
        });
        end();
        if (json) {
          printJson(summary);
          return;
        }
        await printTable(
          summary.files.map(({ file, engine, rows, from: first, to: last, storedAs }) => ({
            file,
            engine,
            rows,
            from: first,
            to: last,
            storedAs,
          })),
          '',
        );
        for (const { file, remark } of summary.files) if (remark !== null) print(`${file}: ${remark}.`);
        printSummary(summary);
      } finally {
        end();
      }
    });
}

function readColumns(text: string): AiMap {
  const pairs = text.split(',').map((pair) => [pair.split('=', 1)[0]!, pair.slice(pair.indexOf('=') + 1)] as const);
  const wrong = pairs.find(([name, header]) => !AI_COLUMNS.some((known) => known === name) || header === '');
  if (wrong !== undefined || pairs.some(([name], index) => pairs.findIndex(([other]) => other === name) !== index)) {
    throw new InvalidArgumentError(
      `It must name each header once, as in date=Day,page=Address,citations=Count, with the names ${AI_COLUMNS.join(', ')}.`,
    );
  }
  return Object.fromEntries(pairs);
}
