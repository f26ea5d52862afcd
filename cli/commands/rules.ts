import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { findAlertRule, listAlertRules, type StoredRule } from '../../server/catalog/alerts.ts';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { WORDS } from '../../server/catalog/entities.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { type AlertRule, alertRuleProblem } from '../../server/domain/alert-rules.ts';
import { withoutLostRollups } from '../../server/load/without-lost-rollups.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { perform } from '../operations.ts';

interface AddOptions {
  readonly project: string;
  readonly name: string;
  readonly rule?: AlertRule;
  readonly file?: string;
  readonly severity: StoredRule['severity'];
  readonly disabled?: boolean;
  readonly json?: boolean;
}

interface TestOptions {
  readonly project?: string;
  readonly rule?: AlertRule;
  readonly file?: string;
  readonly json?: boolean;
}

const EXAMPLE =
  '\'{"scope":"site","metric":"clicks","window":"7d","against":"previous","op":"falls_by","value":30,"unit":"percent"}\'';

export function addRules(program: Command): void {
  const command = program.command('rules').description('manage alert rules of your own');
  command
    .command('add')
    .description('add a rule to a project')
    .requiredOption('--project <id>', 'the project')
    .requiredOption('--name <name>', 'its name, as alerts show it')
    .option('--rule <json>', 'the rule, JSON', readRule)
    .option('--file <file>', 'a file that holds the rule')
    .addOption(
      new Option('--severity <severity>', 'how serious its alerts are').choices(WORDS.severity).default('warning'),
    )
    .option('--disabled', 'do not evaluate it yet')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples(`rules add --project Fw7kd --name 'Clicks fall' --rule ${EXAMPLE}`)}\n\n\`ordinate describe alert_rules\` explains the fields of a rule.`,
    )
    .action(async ({ project, name, severity, disabled, json, ...given }: AddOptions) => {
      const input = { name, rule: ruleOf(given), severity, enabled: disabled !== true };
      const { ruleAddition } = await import('../../server/operations/rules.ts');
      const rule = await withStores(async (stores) => {
        const { workspaceId: workspace } = await requireProject(stores.catalog, project);
        return perform(stores, ruleAddition, { workspace, project, input });
      });
      if (json) printJson({ rule: shown(rule) });
      else print(`Rule ${rule.id} was added; it is evaluated with the next evaluation of ${project}.`);
    });
  command
    .command('list')
    .description('list rules')
    .option('--project <id>', 'only of this project')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('rules list', 'rules list --project Fw7kd --json'))
    .action(async ({ project, json }: { project?: string; json?: boolean }) => {
      const rules = await withStores(async ({ catalog }) => {
        if (project !== undefined) await requireProject(catalog, project);
        return listAlertRules(catalog, project ?? null);
      });
      if (json) printJson(rules.map(shown));
      else
        await printTable(
          rules.map((rule) => ({ ...shown(rule), rule: JSON.stringify(rule.rule) })),
          'There are no rules.',
        );
    });
  command
    .command('remove')
    .description('remove a rule; its open alert resolves with the next evaluation')
    .argument('<id>', 'id of the rule')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('rules remove 7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10'))
    .action(async (id: string, { json }: { json?: boolean }) => {
      const { ruleRemoval } = await import('../../server/operations/rules.ts');
      const removed = await withStores(async (stores) => {
        const rule = await requireRule(stores.catalog, id);
        const { workspaceId: workspace } = await requireProject(stores.catalog, rule.projectId);
        await perform(stores, ruleRemoval, { workspace, project: rule.projectId, id });
        return rule;
      });
      if (json) printJson({ removed: shown(removed) });
      else print(`Rule '${removed.name}' was removed.`);
    });
  command
    .command('test')
    .description('print the days of the last year on which a rule would have opened an alert')
    .argument('[id]', 'id of a rule; or give --project and --rule')
    .option('--project <id>', 'the project')
    .option('--rule <json>', 'the rule, JSON', readRule)
    .option('--file <file>', 'a file that holds the rule')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('rules test 7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', `rules test --project Fw7kd --rule ${EXAMPLE}`),
    )
    .action(async (id: string | undefined, { json, ...options }: TestOptions) => {
      const [{ testRuleOfProject }, { withFacts }, { checkRule }] = await Promise.all([
        import('../../server/alerts/rules.ts'),
        import('../../server/query/with-facts.ts'),
        import('../../server/operations/rules.ts'),
      ]);
      const { range, days } = await withStores(async (stores) => {
        const { settings, catalog } = stores;
        const rule = await ruleToTest(catalog, id, options);
        await checkRule(catalog, rule);
        return withFacts({ settings, catalog }, (facts) =>
          withoutLostRollups(stores, () => testRuleOfProject({ catalog, facts }, rule, { now: Date.now() })),
        );
      });
      if (json) printJson({ from: range.from, to: range.to, days });
      else for (const day of days) print(day);
    });
}

const shown = ({ id, projectId: project, ...rule }: StoredRule) => ({ id, project, ...rule });

async function requireRule(catalog: Catalog, id: string): Promise<StoredRule> {
  const rule = await findAlertRule(catalog, id);
  if (rule === undefined) throw new Error(`There is no rule '${id.slice(0, 40)}'. 'rules list' shows all.`);
  return rule;
}

async function ruleToTest(
  catalog: Catalog,
  id: string | undefined,
  { project, ...given }: TestOptions,
): Promise<StoredRule> {
  if (id !== undefined) return requireRule(catalog, id);
  if (project === undefined) throw new Error('Name a rule by its id, or give --project and --rule.');
  return { id: '', projectId: project, name: 'test', rule: ruleOf(given), severity: 'info', enabled: true };
}

function ruleOf({ rule, file }: Pick<TestOptions, 'rule' | 'file'>): AlertRule {
  if ((rule === undefined) === (file === undefined)) throw new Error('Give the rule by --rule or by --file.');
  return rule ?? readRule(readFileSync(file!, 'utf8'));
}

function readRule(text: string): AlertRule {
  let rule: unknown;
  try {
    rule = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It must be JSON: ${(error as Error).message}`);
  }
  const problem = alertRuleProblem(rule);
  if (problem !== undefined) throw new InvalidArgumentError(`The rule is invalid: ${problem}.`);
  return rule as AlertRule;
}
