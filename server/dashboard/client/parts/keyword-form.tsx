import { useLocation } from 'preact-iso/router';
import { useOpen } from '../lib/drafts.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import type { Project } from '../lib/types.ts';
import { ConfirmButton, Form, Problem, TextField } from './form.tsx';

interface ManagedKeyword {
  readonly id: string;
  readonly query: string;
  readonly tags: readonly string[];
  readonly targetUrl: string | null;
}

/** What the API answers of a keyword. */
interface KeywordRead {
  readonly keyword: ManagedKeyword;
  readonly version: string;
}

interface Props {
  readonly project: Project;
  readonly read: KeywordRead;
  readonly onChange: () => void;
}

/** The tags and the target page of a keyword, and its end. */
export function KeywordActions({ project, read, onChange }: Props) {
  const { keyword, version } = read;
  const path = `/projects/${project.id}/keywords/${keyword.id}`;
  const [isEditing, setEditing] = useOpen(path);
  const work = useWork();
  const { route } = useLocation();
  if (isEditing) {
    return (
      <KeywordForm
        path={path}
        read={read}
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
        onConfirm={(submitted) => send('PATCH', path, { archived: true }, { ...submitted, version })}
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
  readonly read: KeywordRead;
  readonly onEnd: (isSaved: boolean) => void;
}

const valuesOf = ({ keyword }: KeywordRead) => ({
  tags: keyword.tags.join(', '),
  targetUrl: keyword.targetUrl ?? '',
});

function KeywordForm({ path, read, onEnd }: FormProps) {
  const stored = { path, version: read.version, valuesOf };
  const form = useForm(valuesOf(read), { draft: path, secrets: [], stored });
  const { tags, targetUrl } = form.values;
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const list = tags.split(',').map((tag) => tag.trim());
      await send('PATCH', path, { tags: list.filter(Boolean), targetUrl: targetUrl.trim() || null }, submitted);
      onEnd(true);
    });
  return (
    <Form
      form={form}
      fields={['tags', 'targetUrl']}
      labels={{ tags: 'Tags', targetUrl: 'Target page' }}
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
