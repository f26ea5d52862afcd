import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { send, useForm, useWork } from '../lib/form.ts';
import type { Project } from '../lib/types.ts';
import { ConfirmButton, Form, Problem, TextField } from './form.tsx';

interface ManagedKeyword {
  readonly id: string;
  readonly query: string;
  readonly tags: readonly string[];
  readonly targetUrl: string | null;
}

interface Props {
  readonly project: Project;
  readonly keyword: ManagedKeyword;
  readonly onChange: () => void;
}

/** The tags and the target page of a keyword, and its end. */
export function KeywordActions({ project, keyword, onChange }: Props) {
  const [isEditing, setEditing] = useState(false);
  const work = useWork();
  const { route } = useLocation();
  const path = `/projects/${project.id}/keywords/${keyword.id}`;
  if (isEditing) {
    return (
      <KeywordForm
        path={path}
        keyword={keyword}
        onEnd={(isSaved) => {
          setEditing(false);
          if (isSaved) onChange();
        }}
      />
    );
  }
  return (
    <div class="form-buttons keyword-actions">
      <button type="button" class="button" onClick={() => setEditing(true)}>
        Tags and target page
      </button>
      <ConfirmButton
        confirm="Stop tracking it; its days stay"
        work={work}
        onConfirm={() => send('PATCH', path, { archived: true })}
        onDone={() => route(`/app/p/${project.id}/keywords`)}
      >
        Archive
      </ConfirmButton>
      <Problem problem={work.problem} />
    </div>
  );
}

interface FormProps {
  readonly path: string;
  readonly keyword: ManagedKeyword;
  readonly onEnd: (isSaved: boolean) => void;
}

function KeywordForm({ path, keyword, onEnd }: FormProps) {
  const form = useForm({ tags: keyword.tags.join(', '), targetUrl: keyword.targetUrl ?? '' });
  const { tags, targetUrl } = form.values;
  const save = (): Promise<boolean> =>
    form.run(async () => {
      const list = tags.split(',').map((tag) => tag.trim());
      await send('PATCH', path, { tags: list.filter(Boolean), targetUrl: targetUrl.trim() || null });
      onEnd(true);
    });
  return (
    <Form
      form={form}
      fields={['tags', 'targetUrl']}
      submit="Save"
      onSubmit={() => void save()}
      onCancel={() => onEnd(false)}
    >
      <TextField form={form} name="tags" label="Tags" help="Separated by commas." />
      <TextField
        form={form}
        name="targetUrl"
        label="Target page"
        type="url"
        help="The page that should rank: an alert opens when another one does."
      />
    </Form>
  );
}
