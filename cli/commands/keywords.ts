import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { connectionsOf } from '../../server/catalog/connections.ts';
import { listKeywords } from '../../server/catalog/keywords.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { isoInstant } from '../../server/domain/instants.ts';
import { count } from '../../server/domain/problems.ts';
import type { AddedKeywords } from '../../server/projects/keywords.ts';
import { commandWriter, print, printJson, printTable, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { readCount } from '../numbers.ts';
import { withProviders } from '../providers.ts';

interface AddOptions {
  readonly project: string;
  readonly file?: string;
  readonly query?: readonly string[];
  readonly top?: number;
  readonly json?: boolean;
}

interface ArchiveOptions {
  readonly project: string;
  readonly query?: readonly string[];
  readonly id?: readonly string[];
  readonly json?: boolean;
}

export function addKeywords(program: Command): void {
  const command = program.command('keywords').description('track queries of a project');
  command
    .command('add')
    .description('track more queries; the next sync fetches their data')
    .requiredOption('--project <id>', 'the project')
    .option('--file <file>', 'a text file with one query a line')
    .option('--query <query...>', 'the queries')
    .option('--top <n>', 'the n queries with most clicks of the last 28 days', readCount)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'keywords add --project Fw7kd --query "red shoes" --query boots',
        'keywords add --project Fw7kd --file queries.txt',
        'keywords add --project Fw7kd --top 100',
      ),
    )
    .action(runAdd);
  command
    .command('archive')
    .description('stop tracking queries; what is stored of them stays')
    .requiredOption('--project <id>', 'the project')
    .option('--query <query...>', 'the queries', collect)
    .option('--id <id...>', "the keywords' ids, from keywords list", collect)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('keywords archive --project Fw7kd --query "red shoes"'))
    .action(async ({ project, query: queries = [], id: ids = [], json }: ArchiveOptions) => {
      if (queries.length + ids.length === 0) throw new Error('Name the keywords to archive: give --query or --id.');
      const { archiveKeywords } = await import('../../server/projects/keywords.ts');
      const archived = await withStores((stores) =>
        archiveKeywords(stores.catalog, { project, ids, queries }, commandWriter()),
      );
      if (json) printJson({ project, archived });
      else print(`${count(archived.length, 'keyword')} of project '${project}' archived.`);
    });
  command
    .command('list')
    .description('list the tracked queries of a project')
    .requiredOption('--project <id>', 'the project')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('keywords list --project Fw7kd'))
    .action(async ({ project, json }: { project: string; json?: boolean }) => {
      const keywords = await withStores(async ({ catalog }) => {
        await requireProject(catalog, project);
        return listKeywords(catalog, project);
      });
      const rows = keywords.map((keyword) => ({ ...keyword, trackedSince: isoInstant(keyword.trackedSince) }));
      if (json) printJson(rows);
      else await printTable(rows, `Project '${project}' tracks no queries yet.`);
    });
}

async function runAdd({ project, file, query, top, json }: AddOptions): Promise<void> {
  if ([file, query, top].filter((given) => given !== undefined).length !== 1) {
    throw new Error('Name the queries to track by one of --file, --query and --top.');
  }
  const { report, end } = progress();
  try {
    const added = await (top === undefined ? addNamed(project, file, query ?? []) : addTop(project, top, report));
    end();
    if (json) printJson({ project, ...added });
    else printAdded(project, added);
  } finally {
    end();
  }
}

async function addNamed(project: string, file: string | undefined, named: readonly string[]): Promise<AddedKeywords> {
  const [{ addKeywords: add }, { readQueries, requireQueries }] = await Promise.all([
    import('../../server/projects/keywords.ts'),
    import('../../server/projects/new-keywords.ts'),
  ]);
  const queries = file === undefined ? requireQueries(named) : readQueries(readFileSync(file, 'utf8'));
  if (queries.length === 0) throw new Error(`There is no query in ${file}.`);
  const source = file === undefined ? 'manual' : 'import';
  return withStores((stores) => add(stores, { project, queries, source }, commandWriter()));
}

function addTop(project: string, top: number, report: (step: string) => void): Promise<AddedKeywords> {
  return withProviders(async ({ providers, ...stores }) => {
    const { property, country } = await requireProject(stores.catalog, project);
    const connection = (await connectionsOf(stores.catalog, project)).find(({ kind }) => kind === 'search-console');
    if (connection === undefined) {
      throw new Error(
        `--top asks the reporting API, and project '${project}' is not connected; connections set does it.`,
      );
    }
    const [{ readTopQueries }, { addKeywords: add }] = await Promise.all([
      import('../../server/providers/search-console/properties.ts'),
      import('../../server/projects/keywords.ts'),
    ]);
    report('reading the queries with the most clicks');
    const now = Date.now();
    const queries = await readTopQueries(providers, connection, { property, country, count: top, now });
    const added = await add(stores, { project, queries, source: 'suggested' }, commandWriter());
    // The provider has just returned them.
    return { ...added, withData: added.added };
  });
}

function printAdded(project: string, { added, skipped, withData }: AddedKeywords): void {
  const data =
    withData === null
      ? 'the next sync shows which of them have data'
      : `${withData === added ? 'all' : withData} of them have data`;
  const before = skipped === 0 ? '' : ` ${skipped} skipped, because they are already tracked.`;
  print(`${count(added, 'query', 'queries')} added to project '${project}'${added === 0 ? '' : `; ${data}`}.${before}`);
}

function collect(text: string, before: readonly string[] = []): string[] {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return [...before, text];
}
