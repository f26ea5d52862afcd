import { type Command, InvalidArgumentError } from 'commander';
import { type Day, parseDay } from '../../server/domain/dates.ts';
import { count } from '../../server/domain/problems.ts';
import type { Range } from '../../server/domain/range.ts';
import type { SearchConsoleSummary } from '../../server/import/search-console.ts';
import type { Stores } from '../../server/load/stores.ts';
import { print, printJson, printTable, progress, withStores, withStoresForDryRun } from '../cli.ts';
import { evaluateAfter } from '../evaluate.ts';
import { examples } from '../help.ts';
import { readCount } from '../numbers.ts';
import { printSummary, withAlerts } from './load.ts';

interface Options {
  readonly workspace: string;
  readonly property: string;
  readonly brandTerm?: readonly string[];
  readonly trackTop?: number;
  readonly from?: Day;
  readonly to?: Day;
  readonly force?: boolean;
  readonly ignoreColumn?: readonly string[];
  readonly unfiltered?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** @param collect reads an option that may be given more than once */
export function addSearchConsole(
  command: Command,
  collect: (term: string, terms?: readonly string[]) => readonly string[],
): void {
  command
    .command('search-console')
    .description("import exports of Search Console's user interface, or pulls of its API as CSV")
    .argument('<path...>', 'CSV or zip files, or folders of them')
    .requiredOption('--workspace <id>', 'the workspace of the project')
    .requiredOption('--property <property>', 'sc-domain:example.com or https://example.com/')
    .option('--brand-term <term>', 'a brand term of the project; give it once for each', collect)
    .option('--track-top <n>', 'track the n queries with most clicks', readCount)
    .option('--from <day>', 'first day of lists whose export does not have their days', readDay)
    .option('--to <day>', 'last day of these lists', readDay)
    .option('--force', 'import files or pages of another property')
    .option('--ignore-column <name>', 'a column that does not change what rows count; give it once for each', addName)
    .option('--unfiltered', 'tables whose rows all have one country or device are of the whole site')
    .option('--dry-run', 'show what is there, how it fits, and what cannot be known')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples(
        'import search-console export.zip --workspace acme --property sc-domain:acme.example --dry-run',
        'import search-console queries.csv --workspace acme --property sc-domain:acme.example --from 2026-01-01 --to 2026-01-31',
      )}

Days are stored by day, other lists for exactly their range; what would need invented days or devices is not stored.`,
    )
    .action(async (paths: string[], options: Options) => {
      const { brandTerm, ignoreColumn, from, to, dryRun = false, json, ...rest } = options;
      const range = rangeOf(from, to);
      const { importSearchConsole } = await import('../../server/import/search-console.ts');
      const { report, end } = progress();
      try {
        const work = async (stores: Stores) => {
          const given = {
            ...rest,
            paths,
            dryRun,
            report,
            ...range,
            ...(brandTerm ? { brandTerms: brandTerm } : {}),
            ...(ignoreColumn ? { ignoredColumns: ignoreColumn } : {}),
          };
          const imported = await importSearchConsole(stores, given);
          return withAlerts(imported, await evaluateAfter(stores, imported.loaded ? imported.projects : [], report));
        };
        const summary = await (dryRun ? withStoresForDryRun(work) : withStores(work, { create: true }));
        end();
        // A script learns from a dry run what the import would end with.
        if (summary.project === null) process.exitCode = 1;
        if (json) {
          printJson(summary);
          return;
        }
        await printFiles(summary);
        if (summary.project === null) print('Nothing in these files can be stored.');
        else printSummary(summary);
        printProject(summary);
      } finally {
        end();
      }
    });
}

async function printFiles({ files }: SearchConsoleSummary): Promise<void> {
  const rows = files.map(({ file, searchType, dimensions, rows: number, from, to, storedAs }) => ({
    file,
    rowsOf: `${dimensions.join(', ')}${searchType === null || searchType === 'web' ? '' : ` (${searchType})`}`,
    rows: number,
    from,
    to,
    storedAs: storedAs.join(', '),
  }));
  await printTable(rows, '');
  for (const { file, remarks } of files) for (const remark of remarks) print(`${file}: ${remark}.`);
}

function printProject({ loaded, project, keywordsAdded }: SearchConsoleSummary): void {
  if (project === null) return;
  const done = `${loaded ? 'was' : 'would be'} ${project.created ? 'created' : 'updated'}`;
  print(`Project ${project.id} ${done}; ${count(keywordsAdded, 'keyword')} added.`);
}

/** The range of `--from` and `--to`, as an option of imports; empty without them. */
export function rangeOf(from: Day | undefined, to: Day | undefined): { readonly range?: Range } {
  if (from === undefined && to === undefined) return {};
  if (from === undefined || to === undefined) throw new Error('Give both --from and --to, or none of them.');
  if (from > to) throw new Error(`--from (${from}) must not be after --to (${to}).`);
  return { range: { from, to } };
}

/** Reads an option that may be given more than once. */
export function addName(name: string, names: readonly string[] = []): string[] {
  return [...names, name];
}

export function readDay(text: string): Day {
  const day = parseDay(text);
  if (day === undefined) throw new InvalidArgumentError('It must be a calendar day written YYYY-MM-DD.');
  return day;
}
