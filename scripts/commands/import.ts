import { type Command, InvalidArgumentError } from 'commander';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { printSummary } from './load.ts';

interface Options {
  readonly workspace: string;
  readonly property: string;
  readonly brandTerm?: readonly string[];
  readonly trackTop?: number;
  readonly json?: boolean;
}

export function addImport(program: Command): void {
  const command = program.command('import').description('import data from elsewhere');
  command
    .command('bulk-export')
    .description("import Parquet files of the search engine's bulk export")
    .argument('<path...>', 'files or folders of searchdata_url_impression and searchdata_site_impression')
    .requiredOption('--workspace <id>', 'the workspace of the project')
    .requiredOption('--property <property>', 'sc-domain:example.com or https://example.com/')
    .option('--brand-term <term>', 'a brand term of the project; give it once for each', collect)
    .option('--track-top <n>', 'track the n queries with most clicks', readCount)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'import bulk-export ./export --workspace acme --property sc-domain:acme.example',
        'import bulk-export ./export --workspace acme --property https://www.acme.example/ --brand-term acme --track-top 100',
      ),
    )
    .action(async (paths: string[], { workspace, property, brandTerm, trackTop, json }: Options) => {
      const { report, end } = progress();
      try {
        const summary = await withStores(
          (stores) =>
            importBulkExport(stores, {
              paths,
              workspace,
              property,
              report,
              ...(brandTerm ? { brandTerms: brandTerm } : {}),
              ...(trackTop === undefined ? {} : { trackTop }),
            }),
          { create: true },
        );
        end();
        if (json) {
          printJson(summary);
          return;
        }
        printSummary(summary);
        const { id, created } = summary.project;
        print(`Project ${id} was ${created ? 'created' : 'updated'}; ${summary.keywordsAdded} keywords added.`);
      } finally {
        end();
      }
    });
}

function collect(term: string, terms: readonly string[] = []): string[] {
  if (term.trim() === '') throw new InvalidArgumentError('A brand term must not be empty.');
  return [...terms, term];
}

function readCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count <= 100_000)) throw new InvalidArgumentError('It must be a whole number from 0 to 100000.');
  return count;
}
