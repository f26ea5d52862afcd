import { useState } from 'preact/hooks';
import { useResource } from '../lib/api.ts';
import { linesOf, send, useForm } from '../lib/form.ts';
import { formatCount, plural } from '../lib/format.ts';
import type { Project } from '../lib/types.ts';
import { Form, TextField } from '../parts/form.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

type Term = string | { readonly text: string; readonly match: 'word' };

interface Preview {
  readonly branded: { readonly now: number; readonly then: number };
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

interface TermsAnswer {
  readonly terms: readonly Term[];
  readonly version: string;
}

/** Words that make a query count as brand: after `word:` only as whole words. */
export function BrandTerms({ project }: { project: Project }) {
  const path = `/projects/${project.id}/brand-terms`;
  const { data, error, reload } = useResource<TermsAnswer>(path);
  return (
    <section aria-label="Brand terms">
      <h2 class="section-head">Brand terms</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {data === undefined && !error && <Skeleton lines={2} />}
      {data && <TermsForm key={data.version} path={path} read={data} onSaved={reload} />}
    </section>
  );
}

const WORD = /^word:\s*/;
const termsOf = (text: string): Term[] =>
  linesOf(text).map((line) => (WORD.test(line) ? { text: line.replace(WORD, ''), match: 'word' } : line));
const textOf = (terms: readonly Term[]): string =>
  terms.map((term) => (typeof term === 'string' ? term : `word: ${term.text}`)).join('\n');

function TermsForm({ path, read, onSaved }: { path: string; read: TermsAnswer; onSaved: () => void }) {
  const valuesOf = ({ terms }: TermsAnswer) => ({ terms: textOf(terms) });
  const stored = { path, version: read.version, valuesOf };
  const form = useForm(valuesOf(read), { draft: path, secrets: [], stored });
  const [preview, setPreview] = useState<Preview | undefined>();
  const body = { terms: termsOf(form.values.terms) };
  const look = (): Promise<boolean> =>
    form.run(async () => setPreview(await send<Preview>('POST', `${path}/preview`, body)));
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      await send('PUT', path, body, submitted);
      setPreview(undefined);
      onSaved();
    });
  return (
    <Form form={form} fields={['terms']} labels={{ terms: 'Terms' }} submit="Save" onSubmit={() => void save()}>
      <TextField
        form={form}
        name="terms"
        label="Terms"
        rows={4}
        help="One per line. A query that contains one counts as brand. Write word: before a term that must be a whole word; upper case and accents do not matter."
      />
      <div>
        <button type="button" class="button" disabled={form.isBusy} onClick={() => void look()}>
          Show what changes
        </button>
      </div>
      {preview && (
        <div role="status">
          <p>
            {plural(preview.branded.then, 'query', 'queries')} would count as brand, {formatCount(preview.branded.now)}{' '}
            now.
          </p>
          <Queries name="Added" queries={preview.added} />
          <Queries name="Removed" queries={preview.removed} />
        </div>
      )}
    </Form>
  );
}

function Queries({ name, queries }: { name: string; queries: readonly string[] }) {
  if (queries.length === 0) return null;
  return (
    <p class="muted">
      {name}: <bdi>{queries.join(', ')}</bdi>
    </p>
  );
}
