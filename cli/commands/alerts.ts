import { type Command, InvalidArgumentError } from 'commander';
import type { Evaluation } from '../../server/alerts/evaluate.ts';
import { listAllProjects, requireProject } from '../../server/catalog/projects.ts';
import { type Day, parseDay } from '../../server/domain/dates.ts';
import { withoutLostRollups } from '../../server/load/without-lost-rollups.ts';
import { print, printJson, printTable, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly project?: string;
  readonly asOf?: Day;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addAlerts(program: Command): void {
  const command = program.command('alerts').description('evaluate alerts');
  command
    .command('evaluate')
    .description('evaluate the final days that have not been evaluated, as is done after each load')
    .option('--project <id>', 'only of this project')
    .option('--as-of <day>', 'replay up to this day, YYYY-MM-DD, as if no later day were final', readDay)
    .option('--dry-run', 'change nothing')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('alerts evaluate', 'alerts evaluate --project Fw7kd --as-of 2026-03-01 --dry-run'))
    .action(async ({ project, asOf, dryRun = false, json }: Options) => {
      const { report, end } = progress();
      const [{ evaluateProject }, { withFacts }] = await Promise.all([
        import('../../server/alerts/evaluate.ts'),
        import('../../server/query/with-facts.ts'),
      ]);
      try {
        const evaluations = await withStores(async (stores) => {
          const { settings, catalog } = stores;
          const projects =
            project === undefined ? await listAllProjects(catalog, null) : [await requireProject(catalog, project)];
          return withFacts({ settings, catalog }, async (facts) => {
            const done: Evaluation[] = [];
            for (const { id } of projects) {
              report(`project ${id}`);
              const options = { dryRun, ...(asOf === undefined ? {} : { asOf }) };
              const evaluate = () => evaluateProject({ catalog, facts }, id, options);
              const evaluation = await withoutLostRollups(stores, evaluate);
              if (evaluation !== undefined) done.push(evaluation);
            }
            return done;
          });
        });
        end();
        if (json) printJson(evaluations.map((evaluation) => toJson(evaluation, dryRun)));
        else await printEvaluations(evaluations, dryRun);
      } finally {
        end();
      }
    });
}

function readDay(text: string): Day {
  const day = parseDay(text);
  if (day === undefined) throw new InvalidArgumentError('It must be a calendar day, such as 2026-03-01.');
  return day;
}

function toJson({ project, range, opened, changed, removed, alerts }: Evaluation, dryRun: boolean): object {
  const idOf = ({ id }: { id: string }): string => id;
  return {
    project,
    evaluatedFrom: range.from,
    evaluatedThrough: range.to,
    dryRun,
    opened: opened.map(idOf),
    changed: changed.map(idOf),
    removed: removed.map(idOf),
    alerts: alerts.map(({ type, severity, title, body, date, keywordId, resolvedOn }) => {
      return { type, severity, title, body, date, keywordId, resolvedOn };
    }),
  };
}

async function printEvaluations(evaluations: readonly Evaluation[], dryRun: boolean): Promise<void> {
  const rows = evaluations.flatMap(({ project, alerts }) =>
    alerts.map(({ type, severity, date, resolvedOn, title }) => ({ project, date, resolvedOn, type, severity, title })),
  );
  await printTable(rows, 'No alerts.');
  for (const { project, range, opened, changed, removed } of evaluations) {
    const changes = `${opened.length} opened, ${changed.length} changed, ${removed.length} removed`;
    print(`${project}: ${range.from} to ${range.to}${dryRun ? ' (dry run)' : ''}; ${changes}.`);
  }
}
