import { apiPath, isManager, session, useResource } from '../lib/api.ts';
import { formatDate, formatRange, yesterday } from '../lib/dates.ts';
import { useOpen } from '../lib/drafts.ts';
import type { Judged } from '../lib/effect.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import type { Note, NotesAnswer, Project } from '../lib/types.ts';
import { useScreenLink, useView } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead } from '../parts/data-table.tsx';
import { Detectable } from '../parts/detectable.tsx';
import { ChoiceField, Form, ManyField, Problem, Read, RemoveButton, TextField } from '../parts/form.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';
import { NoteVerdict } from '../parts/verdict.tsx';

const CATEGORIES = ['launch', 'content', 'technical', 'migration', 'campaign', 'other'];

const canWrite = (): boolean => (session.value ?? { role: 'key' }).role !== 'key';

/** What people wrote down, the newest first. */
export function Notes() {
  const view = useView();
  const category = view.get('category');
  const isAdding = view.get('add') !== '';
  return (
    <ProjectScreen
      title="Notes"
      needsData={false}
      isViewed={false}
      controls={(project) => (
        <>
          <Select
            label="Category"
            value={category}
            options={[['', 'All categories'], ...CATEGORIES.map((name) => [name, capital(name)] as const)]}
            onChange={(next) => view.change({ category: next || null })}
          />
          <CopyButton path={`/projects/${project.id}/notes`} />
          <a class="button" href={`/app/p/${project.id}/effect`}>
            Judge a day
          </a>
          {canWrite() && !isAdding && (
            <button type="button" class="button button-main" onClick={() => view.change({ add: '1' })}>
              Add a note
            </button>
          )}
        </>
      )}
    >
      {(project) => <List project={project} category={category} isAdding={isAdding && canWrite()} />}
    </ProjectScreen>
  );
}

function List({ project, category, isAdding }: { project: Project; category: string; isAdding: boolean }) {
  const view = useView();
  const { data, error, reload } = useResource<NotesAnswer>(apiPath(`/projects/${project.id}/notes`));
  const notes = (data?.notes ?? []).filter((note) => category === '' || note.category === category).toReversed();
  return (
    <>
      {isAdding && (
        <NoteForm
          project={project}
          onEnd={(isSaved) => {
            view.change({ add: null }, { replace: true });
            if (isSaved) reload();
          }}
        />
      )}
      {error && <ErrorBox error={error} retry={reload} />}
      {data === undefined && !error && <Skeleton lines={4} height={64} />}
      {data && notes.length === 0 && (
        <Empty title={category === '' ? 'No notes yet' : 'No notes of this category'}>
          <p>
            Notes say what happened when, and are marked in charts: a launch, a migration, a campaign. A deploy can
            write them, too: <code>ordinate notes add --help</code>
          </p>
        </Empty>
      )}
      {notes.length > 0 && (
        <>
          <ListHead csv={`/projects/${project.id}/notes.csv`}>{plural(notes.length, 'note')}, newest first</ListHead>
          <ol class="notes">
            {notes.map((note) => (
              <li key={note.id}>
                <NoteItem note={note} project={project} onChange={reload} />
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

interface ItemProps {
  readonly note: Note;
  readonly project: Project;
  readonly onChange: () => void;
}

function NoteItem({ note, project, onChange }: ItemProps) {
  const item = `/projects/${project.id}/notes/${note.id}`;
  const [isEditing, setEditing] = useOpen(item);
  const work = useWork();
  const { date, endDate, category, text, author, scope, group, keyword, page } = note;
  const link = useScreenLink();
  const below = `/app/p/${project.id}/keywords`;
  // Notes of the whole workspace are changed on the command line.
  const isOwn = author.toLowerCase() === session.value?.email?.toLowerCase();
  const canChange = (isManager.value || isOwn) && scope !== 'workspace';
  if (isEditing) {
    return (
      <Read<NoteAnswer> path={item}>
        {(read) => (
          <NoteForm
            project={project}
            read={read}
            onEnd={(isSaved) => {
              setEditing(false);
              if (isSaved) onChange();
            }}
          />
        )}
      </Read>
    );
  }
  return (
    <article class="note">
      <p class="note-date">{endDate === null ? formatDate(date) : formatRange({ from: date, to: endDate })}</p>
      <div class="card">
        <p class="note-text">{text}</p>
        <p class="muted note-about">
          <span class="pill">{capital(category)}</span>
          {author}
          {scope === 'workspace' && <span>all projects</span>}
          {group && <a href={link(below, { group: group.id })}>{group.name}</a>}
          {keyword && <a href={link(`${below}/${keyword.id}`)}>{keyword.query}</a>}
          {page !== null && <span title={page}>{shortUrl(page, project.domain)}</span>}
        </p>
        <NoteVerdict project={project.id} note={note.id} />
        {canChange && (
          <p class="form-buttons">
            <button type="button" class="button" onClick={() => setEditing(true)}>
              Edit<span class="sr-only"> the note of {date}</span>
            </button>
            <RemoveButton confirm="Remove for good" path={item} work={work} onDone={onChange}>
              Remove
            </RemoveButton>
          </p>
        )}
        <Problem problem={work.problem} />
      </div>
    </article>
  );
}

interface NoteAnswer {
  readonly note: Note;
  readonly version: string;
}

const LABELS = {
  ...{ date: 'Day', endDate: 'Last day', category: 'Category', text: 'What happened', page: 'Page' },
  clientVisible: 'Also clients see it',
};

interface NoteFormProps {
  readonly project: Project;
  /** The one that is changed; a new one without it. */
  readonly read?: NoteAnswer;
  readonly onEnd: (isSaved: boolean) => void;
}

const valuesOf = (note: Note | undefined) => ({
  date: note?.date ?? yesterday(),
  endDate: note?.endDate ?? '',
  category: note?.category ?? 'other',
  text: note?.text ?? '',
  page: note?.page ?? '',
  clientVisible: note?.clientVisible ?? false,
});

function NoteForm({ project, read, onEnd }: NoteFormProps) {
  const note = read?.note;
  const path = `/projects/${project.id}/notes`;
  const item = `${path}/${note?.id}`;
  const form = useForm(valuesOf(note), {
    draft: note === undefined ? path : item,
    secrets: [],
    stored: read && { path: item, version: read.version, valuesOf: (answer: NoteAnswer) => valuesOf(answer.note) },
  });
  const { date, endDate, page, clientVisible } = form.values;
  const subject = subjectOf(note, page);
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const scope = note === undefined || note.scope === 'project' || note.scope === 'page';
      const about = scope ? { scope: page === '' ? 'project' : 'page', page: page || null } : {};
      const body = { ...form.values, endDate: endDate || null, page: undefined, ...about };
      if (note === undefined) await send('POST', path, body, submitted);
      else await send('PATCH', item, body, submitted);
      onEnd(true);
    });
  return (
    <Form
      form={form}
      fields={['date', 'endDate', 'category', 'text', 'page']}
      labels={LABELS}
      submit={note === undefined ? 'Add' : 'Save'}
      onSubmit={() => void save()}
      onCancel={() => onEnd(false)}
    >
      <div class="fields">
        <TextField form={form} name="date" label="Day" type="date" isRequired />
        <TextField form={form} name="endDate" label="Last day of a range" type="date" />
        <ChoiceField
          form={form}
          name="category"
          label="Category"
          options={CATEGORIES.map((name) => [name, capital(name)] as const)}
        />
      </div>
      <TextField form={form} name="text" label="What happened" rows={3} isRequired maxLength={5000} />
      <TextField form={form} name="page" label="Page" type="url" help="Its address, if the note is about one page." />
      {subject === undefined ? (
        <p class="muted">
          Name the page that changes to learn later whether it helped: of everything, nothing is left to compare with.
        </p>
      ) : (
        <Detectable project={project.id} date={date} of={subject} />
      )}
      <ManyField
        legend="Who sees it"
        options={[['client', 'Also clients, in links that are shared']]}
        chosen={clientVisible ? ['client'] : []}
        onChange={(chosen) => form.set({ clientVisible: chosen.length > 0 })}
      />
    </Form>
  );
}

/** What a note is about, as far as its effect can be judged. */
function subjectOf(note: Note | undefined, page: string): Judged | undefined {
  if (note?.keyword) return { keyword: note.keyword.id };
  if (note?.group) return { group: note.group.id };
  return URL.canParse(page) ? { page } : undefined;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
