import { type Command, InvalidArgumentError } from 'commander';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { type ListStatus, listStoredLists, readListUses } from '../../server/catalog/stored-lists.ts';
import type { Usage } from '../../server/catalog/usage.ts';
import { addDays, dayOf, earlier } from '../../server/domain/dates.ts';
import { isoInstant } from '../../server/domain/instants.ts';
import { lastDayOfData } from '../../server/domain/project-ranges.ts';
import { resolveRange } from '../../server/domain/range.ts';
import { sentenceOf } from '../../server/providers/failures.ts';
import { print, printJson, printTable, progress, withStores, withUsage } from '../cli.ts';
import { examples } from '../help.ts';
import { withLists } from '../providers.ts';

export function addLists(program: Command): void {
  const command = program.command('lists').description('show and fetch stored page and query lists');
  command
    .command('status')
    .description('show the stored lists, with their size, hits and age')
    .option('--project <id>', 'only of this project')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('lists status', 'lists status --project Fw7kd --json'))
    .action(async ({ project, json }: { project?: string; json?: boolean }) => {
      const stored = await withStores((stores) =>
        withUsage(stores, (usage) => readStatus(stores.catalog, usage, project ?? null)),
      );
      const total = { lists: stored.length, bytes: sumOf(stored, 'bytes'), hits: sumOf(stored, 'hits') };
      if (json) {
        printJson({ ...total, kept: stored.map(toRow) });
        return;
      }
      await printTable(stored.map(toRow), 'There are no stored lists yet.');
      if (stored.length > 0) {
        print(`${total.lists} lists, ${(total.bytes / 1e6).toFixed(1)} MB, ${total.hits} hits.`);
      }
    });
  command
    .command('warm')
    .description('fetch the page and query lists of a project in advance')
    .requiredOption('--project <id>', 'the project')
    .requiredOption('--period <period>', '1d to 486d, or 1m to 16m, ending with the last synced day', readPeriod)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('lists warm --project Fw7kd --period 28d'))
    .action(async ({ project: id, period, json }: { project: string; period: string; json?: boolean }) => {
      const { report, end } = progress();
      const log = {
        info: (line: object) => report(describe(line)),
        warn: (line: object) => report(describe(line)),
      };
      try {
        const fetched = await withLists(log, async ({ catalog, lists }) => {
          const project = await requireProject(catalog, id);
          const yesterday = addDays(dayOf(Date.now()), -1);
          const range = resolveRange({ period }, earlier(lastDayOfData(project, Date.now()), yesterday));
          const rows: object[] = [];
          for (const kind of ['pages', 'queries'] as const) {
            report(`fetching the ${kind} of ${range.from} to ${range.to}`);
            const plan = await lists.plan(project, { kind, range, country: null });
            const list = await lists.fetchAhead(plan).catch((cause: Error) => {
              throw new Error(`The ${kind} could not be fetched: ${sentenceOf(cause)}`, { cause });
            });
            const { source, rows: count, truncated, fetchedAt } = list;
            rows.push({ kind, ...range, source, rows: count, truncated, fetchedAt: isoInstant(fetchedAt) });
          }
          return rows;
        });
        end();
        if (json) printJson(fetched);
        else await printTable(fetched, '');
      } finally {
        end();
      }
    });
}

function describe(line: object): string {
  const { list = '', outcome = '', source = '' } = line as Readonly<Record<string, string>>;
  return `${list} ${outcome} (${source})`;
}

function readPeriod(text: string): string {
  try {
    resolveRange({ period: text }, '2020-01-01');
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return text;
}

interface UsedList extends Omit<ListStatus, 'file'> {
  readonly hits: number;
  /** Microseconds. */
  readonly usedAt: number;
}

/** The stored lists with their uses, most recently used first. */
async function readStatus(catalog: Catalog, usage: Usage, project: string | null): Promise<UsedList[]> {
  const uses = await readListUses(usage);
  return (await listStoredLists(catalog, project))
    .map(({ file, ...list }) => ({ ...list, hits: 0, usedAt: list.fetchedAt, ...uses.get(file) }))
    .sort((a, b) => b.usedAt - a.usedAt);
}

function sumOf(lists: readonly UsedList[], name: 'bytes' | 'hits'): number {
  return lists.reduce((sum, list) => sum + list[name], 0);
}

function toRow({ fetchedAt, usedAt, ...list }: UsedList): object {
  const ageHours = Math.round((Date.now() - fetchedAt / 1000) / 360_000) / 10;
  return { ...list, fetchedAt: isoInstant(fetchedAt), usedAt: isoInstant(usedAt), ageHours };
}
