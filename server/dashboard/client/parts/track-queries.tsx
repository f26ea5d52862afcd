import { linesOf, send, useForm } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import type { Project } from '../lib/types.ts';
import { Form, TextField } from './form.tsx';

interface Props {
  readonly project: Project;
  /** With what was done, in words; with nothing if it was cancelled. */
  readonly onEnd: (done?: string) => void;
}

/** A form that tracks more queries of a project. */
export function TrackQueries({ project, onEnd }: Props) {
  const form = useForm({ queries: '', tags: '' }, { draft: `/projects/${project.id}/keywords`, secrets: [] });
  const track = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const tags = form.values.tags.split(',').map((tag) => tag.trim());
      const { added, skipped } = await send<{ added: readonly unknown[]; skipped: readonly string[] }>(
        'POST',
        `/projects/${project.id}/keywords`,
        { queries: linesOf(form.values.queries), ...(form.values.tags.trim() !== '' && { tags }) },
        submitted,
      );
      const known = skipped.length === 0 ? '' : `; ${skipped.length} were tracked already`;
      onEnd(`${plural(added.length, 'query is', 'queries are')} tracked from now on${known}.`);
    });
  return (
    <Form
      form={form}
      fields={['queries', 'tags']}
      submit="Track"
      onSubmit={() => void track()}
      onCancel={() => onEnd()}
    >
      <TextField form={form} name="queries" label="Queries" rows={6} isRequired help="One per line." />
      <TextField form={form} name="tags" label="Tags" help="Separated by commas; none without them." />
    </Form>
  );
}
