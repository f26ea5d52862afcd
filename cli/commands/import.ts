import { type Command, InvalidArgumentError } from 'commander';
import { count } from '../../server/domain/problems.ts';
import type { ImportSummary } from '../../server/load/bulk-export.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { evaluateAfter } from '../evaluate.ts';
import { examples } from '../help.ts';
import { readCount } from '../numbers.ts';
import { addAiReport } from './import-ai-report.ts';
import { addSearchConsole } from './import-search-console.ts';
import { printSummary, withAlerts } from './load.ts';

interface Options {
  readonly workspace: string;
  readonly property: string;
  readonly brandTerm?: readonly string[];
  readonly trackTop?: number;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addImport(program: Command): void {
  const command = program.command('import').description('import data from elsewhere');
  addSearchConsole(command, collect);
  addAiReport(command);
  command
    .command('bulk-export')
    .description("import Parquet files of the search engine's bulk export")
    .argument('<path...>', 'files or folders of searchdata_url_impression and searchdata_site_impression')
    .requiredOption('--workspace <id>', 'the workspace of the project')
    .requiredOption('--property <property>', 'sc-domain:example.com or https://example.com/')
    .option('--brand-term <term>', 'a brand term of the project; give it once for each', collect)
    .option('--track-top <n>', 'track the n queries with most clicks', readCount)
    .option('--force', 'import rows of a property other than --property')
    .option('--dry-run', 'check it only')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'import bulk-export ./export --workspace acme --property sc-domain:acme.example --dry-run',
        'import bulk-export ./export --workspace acme --property https://www.acme.example/ --brand-term acme --track-top 100',
      ),
    )
    .action(async (paths: string[], options: Options) => {
      const { workspace, property, brandTerm, trackTop, force = false, dryRun = false, json } = options;
      const { importBulkExport } = await import('../../server/load/bulk-export.ts');
      const { report, end } = progress();
      try {
        const summary = await withStores(
          async (stores) => {
            const imported = await importBulkExport(stores, {
              paths,
              workspace,
              property,
              force,
              dryRun,
              report,
              ...(brandTerm ? { brandTerms: brandTerm } : {}),
              ...(trackTop === undefined ? {} : { trackTop }),
            });
            return withAlerts(imported, await evaluateAfter(stores, imported.loaded ? imported.projects : [], report));
          },
          { create: !dryRun },
        );
        end();
        if (json) {
          printJson(summary);
          return;
        }
        printSummary(summary);
        printImport(summary);
      } finally {
        end();
      }
    });
}

/** Prints the results that only imports have. */
function printImport({ loaded, project, keywordsAdded, siteTotals, otherSearchTypes }: ImportSummary): void {
  if (siteTotals === 'page') {
    print(
      'Site totals are computed from rows by page, because the export has no searchdata_site_impression: they have more impressions, and different positions, than the property in Search Console.',
    );
  }
  const others = Object.entries(otherSearchTypes);
  const left = others.reduce((sum, [, rows]) => sum + rows, 0);
  if (left > 0) {
    const types = others.map(([type, rows]) => `${type} ${rows.toLocaleString('en')}`).join(', ');
    print(`${count(left, 'row')} of search types that are not known left out: ${types}.`);
  }
  const was = loaded ? 'was' : 'would be';
  print(
    `Project ${project.id} ${was} ${project.created ? 'created' : 'updated'}; ${count(keywordsAdded, 'keyword')} added.`,
  );
}

function collect(term: string, terms: readonly string[] = []): string[] {
  if (term.trim() === '') throw new InvalidArgumentError('A brand term must not be empty.');
  return [...terms, term];
}
