import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { readCoverage } from '../../server/catalog/fact-files.ts';
import { listAllProjects, readProjectContents } from '../../server/catalog/projects.ts';
import { requireWorkspace } from '../../server/catalog/workspaces.ts';
import type { BrandTerm } from '../../server/domain/brand-terms.ts';
import { isoInstantOrNull } from '../../server/domain/instants.ts';
import { count } from '../../server/domain/problems.ts';
import { removeProject } from '../../server/load/remove.ts';
import { print, printJson, printTable, progress, withStores } from '../cli.ts';
import { addConnectionOptions, archiveOption, type ConnectionOptions, searchConsole } from '../connection-options.ts';
import { examples } from '../help.ts';
import { readCount } from '../numbers.ts';
import { withProviders } from '../providers.ts';
import { oneId, projectLines, type RemoveOptions, runRemoval } from '../removals.ts';
import { syncNow } from '../sync-now.ts';

interface CreateOptions extends ConnectionOptions {
  readonly workspace: string;
  readonly property: string;
  readonly brandTerm?: readonly string[];
  readonly brandWord?: readonly string[];
  /** `none` for all. */
  readonly country?: string;
  readonly trackTop?: number;
  readonly name?: string;
  readonly sync?: boolean;
  readonly json?: boolean;
}

interface SetOptions {
  readonly project: string;
  readonly brandTerm?: readonly string[];
  readonly brandWord?: readonly string[];
  /** False for `--no-brand-terms`. */
  readonly brandTerms: boolean;
  /** `none` for all. */
  readonly country?: string;
  readonly name?: string;
  readonly json?: boolean;
}

export function addProjects(program: Command): void {
  const command = program.command('projects').description('create, change, list and remove projects');
  addConnectionOptions(
    command
      .command('create')
      .description('create a project for a property that credentials can read')
      .requiredOption('--workspace <id>', 'the workspace of the project')
      .requiredOption('--property <property>', 'sc-domain:example.com or https://example.com/; properties lists them'),
  )
    .addOption(brandTermOption('--brand-term <term...>', 'brand terms of the project'))
    .addOption(brandTermOption('--brand-word <term...>', WORDS))
    .addOption(countryOption('count only searches of this country, such as usa'))
    .option('--track-top <n>', 'track the n queries with most clicks of the last 28 days', readCount)
    .option('--name <name>', "the project's display name, instead of its domain", readName)
    .addOption(archiveOption())
    .option('--sync', 'fetch its data now; otherwise serve or the next sync does')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'projects create --workspace acme --property sc-domain:acme.example --credentials google.json --track-top 500 --sync',
        'projects create --workspace acme --property acme.example --credentials google.json --brand-term acme --country usa',
      ),
    )
    .action(
      async ({
        workspace,
        property,
        brandTerm,
        brandWord,
        country,
        trackTop,
        name,
        sync,
        json,
        ...options
      }: CreateOptions) => {
        const { createProject } = await import('../../server/projects/projects.ts');
        const connection = searchConsole(options);
        const { report, end } = progress();
        try {
          const wanted = {
            workspace,
            property,
            connection,
            brandTerms: (await brandTermsOf(brandTerm, brandWord)) ?? [],
            country: readCountry(country) ?? null,
            name: name ?? null,
            trackTop: trackTop ?? 0,
          };
          const { others, ...project } = await withProviders(({ providers, ...stores }) =>
            createProject(stores, providers, wanted, { now: Date.now(), report }),
          );
          end();
          if (others.length > 0) {
            process.stderr.write(`Workspace '${workspace}' already had the property: ${others.join(', ')}.\n`);
          }
          if (json) printJson({ project });
          else {
            const tracked = count(project.trackedKeywords, 'query', 'queries');
            print(`Project ${project.id} was created for ${project.property}; it tracks ${tracked}.`);
            if (!sync) print(`A running server fills it; without one: ordinate sync --project ${project.id}`);
          }
          if (sync) await syncNow([project.id], { quiet: json === true });
        } finally {
          end();
        }
      },
    );
  command
    .command('set')
    .description("change a project's brand terms, country or name; the next sync fetches the affected data again")
    .requiredOption('--project <id>', 'the project')
    .addOption(brandTermOption('--brand-term <term...>', 'brand terms, replacing all existing ones'))
    .addOption(brandTermOption('--brand-word <term...>', WORDS))
    .option('--no-brand-terms', 'remove all brand terms')
    .addOption(countryOption('count only searches of this country, such as usa; none: of all'))
    .option('--name <name>', "the project's display name", readName)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('projects set --project Fw7kd --brand-term acme --brand-term "ac me" --country none'),
    )
    .action(async ({ project, brandTerm, brandWord, brandTerms, country, name, json }: SetOptions) => {
      const terms = await brandTermsOf(brandTerm, brandWord);
      if (!brandTerms && terms !== undefined) throw new Error('Give brand terms or --no-brand-terms, not both.');
      const changes = { brandTerms: brandTerms ? terms : [], country: readCountry(country), name };
      if (Object.values(changes).every((value) => value === undefined)) {
        throw new Error('Nothing to change: give --brand-term, --no-brand-terms, --country or --name.');
      }
      const { changeProject } = await import('../../server/projects/projects.ts');
      await withStores((stores) => changeProject(stores.catalog, project, changes));
      if (json) printJson({ project, ...changes });
      else print(`Project '${project}' was changed.`);
    });
  command
    .command('list')
    .description('list projects, with the first and last stored day of each fact table')
    .option('--workspace <id>', 'only of this workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('projects list', 'projects list --workspace acme --json'))
    .action(async ({ workspace, json }: { workspace?: string; json?: boolean }) => {
      const projects = await withStores(({ catalog }) => catalog.snapshot((tx) => listed(tx, workspace ?? null)));
      if (json) {
        printJson(projects);
        return;
      }
      await printTable(
        projects.map((project) => ({ ...project, coverage: undefined })),
        'There are no projects yet.',
      );
      const coverage = projects.flatMap(({ id, coverage: tables }) =>
        Object.entries(tables).map(([table, { firstDay, lastDay, rows }]) => ({
          project: id,
          table,
          firstDay,
          lastDay,
          rows,
        })),
      );
      if (coverage.length === 0) return;
      print('');
      await printTable(coverage, '');
    });
  command
    .command('remove')
    .description('permanently remove a project, with its facts, keywords, groups, alerts, notes, connections and lists')
    .argument('[id]', 'id of the project')
    .option('--project <id>', 'the same as the argument')
    .option('--confirm <id>', 'the id again, instead of typing it at a terminal')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('projects remove Shop1 --confirm Shop1'))
    .action(async (given: string | undefined, options: RemoveOptions & { project?: string }) => {
      const id = oneId('project', given, options.project);
      await runRemoval(id, options, {
        what: 'project',
        read: readProjectContents,
        lines: projectLines,
        remove: removeProject,
      });
    });
}

const WORDS = 'brand terms that count as whole words only, in any case and with or without accents';

async function brandTermsOf(texts?: readonly string[], words?: readonly string[]): Promise<BrandTerm[] | undefined> {
  if (texts === undefined && words === undefined) return undefined;
  const { checkBrandTerms } = await import('../../server/projects/brand-terms.ts');
  return checkBrandTerms([...(texts ?? []), ...(words ?? []).map((text) => ({ text, match: 'word' }))], 'terms');
}

function brandTermOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser<readonly string[] | undefined>((term, terms) => {
    return [...(terms ?? []), term];
  });
}

function countryOption(description: string): Option {
  return new Option('--country <code>', description).argParser((text: string) => {
    const code = text.toLowerCase();
    if (code !== 'none' && !/^[a-z]{3}$/.test(code))
      throw new InvalidArgumentError('It must be a code of three letters, or none.');
    return code;
  });
}

function readCountry(code: string | undefined): string | null | undefined {
  return code === 'none' ? null : code;
}

function readName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text.trim();
}

async function listed(catalog: Catalog, workspace: string | null) {
  if (workspace !== null) await requireWorkspace(catalog, workspace);
  const projects = await listAllProjects(catalog, workspace);
  return Promise.all(
    projects.map(async (project) => ({
      id: project.id,
      workspace: project.workspaceId,
      domain: project.domain,
      property: project.property,
      setupFinished: project.setupFinished,
      syncStatus: project.syncStatus,
      lastSyncedAt: isoInstantOrNull(project.lastSyncedAt),
      syncedThrough: project.syncedThrough,
      trackedKeywords: project.trackedKeywords,
      coverage: await readCoverage(catalog, project.id),
    })),
  );
}
