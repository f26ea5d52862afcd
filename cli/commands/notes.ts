import { type Command, Option } from 'commander';
import pLimit from 'p-limit';
import { findNote, listNotes, listWorkspaceNotes, type Note, type NoteOwner } from '../../server/catalog/alerts.ts';
import { type FlagName, WORDS, withTexts } from '../../server/catalog/entities.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { findRole, requireWorkspace } from '../../server/catalog/workspaces.ts';
import { dayOf } from '../../server/domain/dates.ts';
import { classifyFailure } from '../../server/domain/failures.ts';
import type { Stores } from '../../server/load/stores.ts';
import type { NoteVerdict } from '../../server/presets/effects.ts';
import { print, printJson, printTable, TemporaryFailure, TRY_AGAIN, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { perform, withFlags } from '../operations.ts';

/** Notes that are judged at a time: one reads facts while another computes. */
const AT_ONCE = 4;

interface Of {
  readonly project?: string | undefined;
  readonly workspace?: string | undefined;
  readonly json?: boolean;
}

interface AddOptions extends Of, Partial<Record<FlagName<'notes'>, boolean>> {
  readonly text: string;
  readonly date?: string;
  readonly endDate?: string;
  readonly category: Note['category'];
  readonly page?: string;
  readonly by?: string;
}

const EXIT_CODES = `Exit codes: 0 if the note was written, 1 if the same command would fail again (its message says what is wrong),
${TRY_AGAIN} if it may succeed later: the disk is full, the database cannot be reached. Nothing is written then.`;

export function addNotes(program: Command): void {
  const command = program.command('notes').description('notes of projects: what was changed, and when');
  withFlags(command.command('add'), 'notes')
    .description('add a note, for example from a deploy')
    .option('--project <id>', 'the project')
    .option('--workspace <id>', 'instead of a project: all projects of a workspace')
    .requiredOption('--text <text>', 'what was changed')
    .option('--date <day>', 'the day (default: today, UTC)')
    .option('--end-date <day>', 'the last day, if it took several')
    .addOption(new Option('--category <category>', 'the kind of change').choices(WORDS.noteCategory).default('other'))
    .option('--page <url>', 'the page that was changed')
    .option('--by <email>', 'the member who writes it')
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\n${EXIT_CODES}`)
    .addHelpText(
      'after',
      examples(
        "notes add --project Fw7kd --text 'New checkout' --category launch",
        "notes add --project Fw7kd --page https://acme.example/shoes --text 'Shorter title' --json",
      ),
    )
    .action(async ({ json, ...options }: AddOptions) => {
      const note = await withStores((stores) => add(stores, options)).catch(asExitCode);
      if (json) printJson({ note: withTexts('notes', note) });
      else print(`Note ${note.id} was added.`);
    });
  command
    .command('list')
    .description('list the notes of a project with the verdicts on them, or those of a workspace without a project')
    .option('--project <id>', 'the project')
    .option('--workspace <id>', 'the workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('notes list --project Fw7kd', 'notes list --workspace acme --json'))
    .action(async ({ json, ...of }: Of) => {
      const judged = await withStores((stores) => list(stores, of));
      if (json)
        printJson(judged.map(({ note, effect }) => ({ ...withTexts('notes', note), ...(effect && { effect }) })));
      else {
        const rows = judged.map(({ note: { id, date, endDate, category, text, author }, effect }) => ({
          ...{ id, date, endDate, category, text, author, verdict: effect?.verdict, effect: effect?.text },
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
      const { noteRemoval } = await import('../../server/operations/notes.ts');
      await withStores(async (stores) => {
        const found = await findNote(stores.catalog, id);
        if (found === undefined) throw new Error(`There is no note '${id.slice(0, 40)}'.`);
        await perform(stores, noteRemoval, { ...placeOf(found.owner), id });
      });
      print('The note was removed.');
    });
}

async function add(stores: Stores, { project, workspace, by, ...fields }: Omit<AddOptions, 'json'>): Promise<Note> {
  const { noteAddition } = await import('../../server/operations/notes.ts');
  const owner = await ownerOf(stores.catalog, { project, workspace });
  if (by !== undefined && (await findRole(stores.catalog, owner.workspace, by)) === undefined) {
    throw new Error(`'${by}' is not a member of the workspace '${owner.workspace}'.`);
  }
  const scope = fields.page === undefined ? {} : { scope: 'page' as const };
  const input = { ...fields, ...scope, date: fields.date ?? dayOf(Date.now()) };
  return (await perform(stores, noteAddition, { ...placeOf(owner), input, author: by })).note;
}

const placeOf = ({ workspace, project }: NoteOwner) => ({ workspace, project: project ?? undefined });

/** Names a failure temporary if the same command may succeed later. */
async function asExitCode(error: unknown): Promise<never> {
  const failure = classifyFailure(error);
  // What this user may not write, it may not write later either.
  if (failure === undefined || failure === 'read-only') throw error;
  throw new TemporaryFailure((error as Error).message, { cause: error });
}

interface JudgedNote {
  readonly note: Note;
  /** Undefined without a project, or while it is set up. */
  readonly effect?: NoteVerdict;
}

/** Notes, and the verdicts on those of a project. */
async function list({ settings, catalog }: Stores, of: Of): Promise<JudgedNote[]> {
  const { project, workspace } = await ownerOf(catalog, of);
  if (project === null) return (await listWorkspaceNotes(catalog, workspace)).map((note) => ({ note }));
  const notes = await listNotes(catalog, { project, workspace, from: null, to: null, clientVisible: false });
  // Nothing can be said of a project in setup. DuckDB is loaded only if there is something to judge.
  if (notes.length === 0 || !(await requireProject(catalog, project)).setupFinished)
    return notes.map((note) => ({ note }));
  const [{ withPresets }, { noteVerdict }] = await Promise.all([
    import('../../server/presets/with-presets.ts'),
    import('../../server/presets/effects.ts'),
  ]);
  const log = { info: () => {}, warn: () => {} };
  return withPresets({ settings, catalog, log, now: Date.now }, async (sources) => {
    const stop = new AbortController();
    const reading = { reader: 'notes', signal: stop.signal };
    const limit = pLimit({ concurrency: AT_ONCE, rejectOnClear: true });
    const judging = notes.map((note) =>
      limit(async () => ({
        note,
        effect: await noteVerdict(sources, { id: project, workspaceId: workspace }, note, reading),
      })),
    );
    try {
      return await Promise.all(judging);
    } finally {
      // What still runs after a failure ends before the stores are closed.
      stop.abort();
      limit.clearQueue();
      await Promise.allSettled(judging);
    }
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
