import { type Command, Option } from 'commander';
import { actorOf } from '../../server/catalog/audit.ts';
import { listNotes, listWorkspaceNotes, NOTE_CATEGORIES, type Note } from '../../server/catalog/events.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { findRole, requireWorkspace } from '../../server/catalog/workspaces.ts';
import { dayOf } from '../../server/domain/dates.ts';
import { isoInstant, toMicroseconds } from '../../server/domain/instants.ts';
import { commandWriter, print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Of {
  readonly project?: string | undefined;
  readonly workspace?: string | undefined;
  readonly json?: boolean;
}

interface AddOptions extends Of {
  readonly text: string;
  readonly date?: string;
  readonly endDate?: string;
  readonly category: Note['category'];
  readonly page?: string;
  readonly clientVisible?: boolean;
  readonly by?: string;
}

export function addNotes(program: Command): void {
  const command = program.command('notes').description('notes of projects: what was changed, and when');
  command
    .command('add')
    .description('add a note, for example from a deploy')
    .option('--project <id>', 'the project')
    .option('--workspace <id>', 'instead of a project: all projects of a workspace')
    .requiredOption('--text <text>', 'what was changed')
    .option('--date <day>', 'the day (default: today, UTC)')
    .option('--end-date <day>', 'the last day, if it took several')
    .addOption(new Option('--category <category>', 'the kind of change').choices(NOTE_CATEGORIES).default('other'))
    .option('--page <url>', 'the page that was changed')
    .option('--client-visible', 'clients may see it in reports')
    .option('--by <email>', 'the member who writes it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        "notes add --project Fw7kd --text 'New checkout' --category launch",
        "notes add --project Fw7kd --page https://acme.example/shoes --text 'Shorter title' --json",
      ),
    )
    .action(async ({ project, workspace, by, json, ...fields }: AddOptions) => {
      const { addNote } = await import('../../server/projects/notes.ts');
      const now = Date.now();
      const note = await withStores(async (stores) => {
        const owner = await ownerOf(stores.catalog, { project, workspace });
        if (by !== undefined && (await findRole(stores.catalog, owner.workspace, by)) === undefined) {
          throw new Error(`'${by}' is not a member of the workspace '${owner.workspace}'.`);
        }
        const scope = fields.page === undefined ? {} : { scope: 'page' as const };
        const written = { ...fields, ...scope, date: fields.date ?? dayOf(now) };
        return addNote(stores, owner, written, { by: actorOf(by ?? null), at: toMicroseconds(now) }, {});
      });
      if (json) printJson({ note: shown(note) });
      else print(`Note ${note.id} was added.`);
    });
  command
    .command('list')
    .description('list the notes of a project, or those of a workspace without a project')
    .option('--project <id>', 'the project')
    .option('--workspace <id>', 'the workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('notes list --project Fw7kd', 'notes list --workspace acme --json'))
    .action(async ({ json, ...of }: Of) => {
      const notes = await withStores(async ({ catalog }) => {
        const { project, workspace } = await ownerOf(catalog, of);
        if (project === null) return listWorkspaceNotes(catalog, workspace);
        return listNotes(catalog, { project, workspace, from: null, to: null, clientVisible: false });
      });
      if (json) printJson(notes.map(shown));
      else {
        const rows = notes.map(({ id, date, endDate, category, text, author }) => ({
          ...{ id, date, endDate, category, text, author },
        }));
        await printTable(rows, 'There are no notes.');
      }
    });
  command
    .command('remove')
    .description('remove a note')
    .argument('<id>', 'id of the note')
    .addHelpText('after', examples('notes remove 7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10'))
    .action(async (id: string) => {
      const { removeNote } = await import('../../server/projects/notes.ts');
      const writer = commandWriter();
      await withStores((stores) => removeNote(stores, id, writer, {}));
      print('The note was removed.');
    });
}

async function ownerOf(
  catalog: Parameters<typeof requireProject>[0],
  { project, workspace }: Of,
): Promise<{ project: string | null; workspace: string }> {
  if ((project === undefined) === (workspace === undefined)) throw new Error('Give --project or --workspace.');
  if (project !== undefined) return { project, workspace: (await requireProject(catalog, project)).workspaceId };
  await requireWorkspace(catalog, workspace!);
  return { project: null, workspace: workspace! };
}

const shown = (note: Note) => ({
  ...note,
  createdAt: isoInstant(note.createdAt),
  updatedAt: isoInstant(note.updatedAt),
});
