import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { isManager, session, useResource } from '../lib/api.ts';
import { send, useForm } from '../lib/form.ts';
import { projectOf } from '../lib/screens.ts';
import { Problem } from './form.tsx';
import { Icon } from './icons.tsx';
import { ErrorBox, Skeleton } from './states.tsx';

interface SavedView {
  readonly id: string;
  readonly name: string;
  /** Below the address of the project. */
  readonly address: string;
  readonly author: string;
}

/** Names what is shown, for all of the workspace, and goes to what others have named. */
export function SavedViewsMenu() {
  const { url, path } = useLocation();
  const project = projectOf(path)!;
  const root = `/app/p/${project}`;
  const views = `/projects/${project}/views`;
  const { data, error, reload } = useResource<{ views: readonly SavedView[] }>(views);
  const form = useForm({ name: '' }, { draft: views, secrets: [] });
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const field = useRef<HTMLInputElement>(null);
  const address = url.slice(root.length);
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      await send('POST', views, { name: form.values.name, address }, submitted);
      form.reset();
      reload();
    });
  const remove = (id: string): Promise<boolean> =>
    form.run(async () => {
      await send('DELETE', `${views}/${id}`);
      setRemoved([...removed, id]);
      field.current?.focus();
    });
  const shown = data?.views.filter(({ id }) => !removed.includes(id));
  const mayRemove = ({ author }: SavedView): boolean =>
    isManager.value || author.toLowerCase() === session.value?.email?.toLowerCase();
  return (
    <div class="saved-views">
      {error && <ErrorBox error={error} retry={reload} />}
      {data === undefined && !error && <Skeleton lines={2} height={28} />}
      {shown?.length === 0 && <p class="muted">Views that you save are here for everybody of the workspace.</p>}
      <ul>
        {shown?.map((view) => (
          <li key={view.id}>
            <a class="menu-item" dir="auto" href={root + view.address} title={`Saved by ${view.author}`}>
              {view.name}
            </a>
            {mayRemove(view) && (
              <button type="button" class="icon-button" onClick={() => void remove(view.id)}>
                <Icon name="close" size={14} />
                <span class="sr-only">Remove the view {view.name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {session.value?.email != null && (
        <form
          class="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <input
            ref={field}
            required
            maxLength={100}
            aria-label="Name of this view"
            placeholder="Name this view…"
            value={form.values.name}
            onInput={(event) => form.set({ name: event.currentTarget.value })}
          />
          <button type="submit" class="button" disabled={form.isBusy}>
            Save
          </button>
        </form>
      )}
      <Problem problem={form.problem} />
    </div>
  );
}
