import { useResource } from '../lib/api.ts';
import { send, useForm } from '../lib/form.ts';
import type { Home } from '../lib/home.ts';
import type { Project } from '../lib/types.ts';
import { Form, TextField } from '../parts/form.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

/** Words that the list of projects can be narrowed to. */
export function Tags({ project }: { project: Project }) {
  const { data, error, reload } = useResource<Home>('/home');
  const tags = data?.tags.flatMap((one) => (one.project === project.id ? [one.tag] : []));
  return (
    <section aria-label="Tags">
      <h2 class="section-head">Tags</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {tags === undefined && !error && <Skeleton lines={1} />}
      {tags && <TagsForm path={`/projects/${project.id}/tags`} tags={tags} />}
    </section>
  );
}

function TagsForm({ path, tags }: { path: string; tags: readonly string[] }) {
  const form = useForm({ tags: tags.join(', ') });
  const list = form.values.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
  return (
    <Form
      form={form}
      fields={['tags']}
      submit="Save"
      onSubmit={() => void form.run(() => send('PUT', path, { tags: list }))}
    >
      <TextField
        form={form}
        name="tags"
        label="Tags"
        help="Separated by commas. The list of projects shows them, and can be narrowed to one."
      />
    </Form>
  );
}
