import { apiPath, useResource } from '../lib/api.ts';
import { formatDate, formatRange } from '../lib/dates.ts';
import { plural } from '../lib/format.ts';
import type { Note, NotesAnswer, Project } from '../lib/types.ts';
import { useScreenLink, useView } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';

const CATEGORIES = ['launch', 'content', 'technical', 'migration', 'campaign', 'other'];

/** What people wrote down, the newest first. */
export function Notes() {
  const view = useView();
  const category = view.get('category');
  return (
    <ProjectScreen
      title="Notes"
      needsData={false}
      controls={(project) => (
        <>
          <Select
            label="Category"
            value={category}
            options={[['', 'All categories'], ...CATEGORIES.map((name) => [name, capital(name)] as const)]}
            onChange={(next) => view.change({ category: next || null })}
          />
          <CopyButton path={`/projects/${project.id}/notes`} />
        </>
      )}
    >
      {(project) => <List project={project} category={category} />}
    </ProjectScreen>
  );
}

function List({ project, category }: { project: Project; category: string }) {
  const { data, error, reload } = useResource<NotesAnswer>(apiPath(`/projects/${project.id}/notes`));
  const notes = (data?.notes ?? []).filter((note) => category === '' || note.category === category).toReversed();
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {data === undefined && !error && <Skeleton lines={4} height={64} />}
      {data && notes.length === 0 && (
        <Empty title={category === '' ? 'No notes yet' : 'No notes of this category'}>
          <p>
            Notes say what happened when, and are marked in charts. They come with the table <code>notes</code> of a
            snapshot: <code>ordinate describe notes</code>
          </p>
        </Empty>
      )}
      {notes.length > 0 && (
        <>
          <p class="muted list-head">{plural(notes.length, 'note')}, newest first</p>
          <ol class="notes">
            {notes.map((note) => (
              <li key={note.id}>
                <NoteItem note={note} project={project} />
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function NoteItem({ note, project }: { note: Note; project: Project }) {
  const { date, endDate, category, text, author, scope, group, keyword, page } = note;
  const link = useScreenLink();
  const below = `/app/p/${project.id}/keywords`;
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
      </div>
    </article>
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
