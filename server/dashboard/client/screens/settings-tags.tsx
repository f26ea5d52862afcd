import { useResource } from '../lib/api.ts';
import { send, useForm } from '../lib/form.ts';
import type { Project } from '../lib/types.ts';
import { Form, TextField } from '../parts/form.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

interface TagsAnswer {
  readonly tags: readonly string[];
  readonly version: string;
}

/** Words that the list of projects can be narrowed to. */
export function Tags({ project }: { project: Project }) {
  const path = `/projects/${project.id}/tags`;
  const { data, error, reload } = useResource<TagsAnswer>(path);
  return (
    <section aria-label="Tags">
      <h2 class="section-head">Tags</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {data === undefined && !error && <Skeleton lines={1} />}
      {data && <TagsForm key={data.version} path={path} read={data} onSaved={reload} />}
    </section>
  );
}

function TagsForm({ path, read, onSaved }: { path: string; read: TagsAnswer; onSaved: () => void }) {
  const valuesOf = ({ tags }: TagsAnswer) => ({ tags: tags.join(', ') });
  const stored = { path, version: read.version, valuesOf };
  const form = useForm(valuesOf(read), { draft: path, secrets: [], stored });
  const list = form.values.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      await send('PUT', path, { tags: list }, submitted);
      onSaved();
    });
  return (
    <Form form={form} fields={['tags']} labels={{ tags: 'Tags' }} submit="Save" onSubmit={() => void save()}>
      <TextField
        form={form}
        name="tags"
        label="Tags"
        help="Separated by commas. The list of projects shows them, and can be narrowed to one."
      />
    </Form>
  );
}
