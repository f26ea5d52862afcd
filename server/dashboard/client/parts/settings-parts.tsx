import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useOpen } from '../lib/drafts.ts';
import { send, useWork } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import { Problem, Read, RemoveButton } from './form.tsx';

interface SectionProps {
  readonly title: string;
  readonly add: string;
  /** That of its form: it opens again with what was typed. */
  readonly draft: string;
  readonly error: ComponentChildren;
  /** With whether something is being added, and how to end that. */
  readonly children: (isAdding: boolean, end: () => void) => ComponentChildren;
}

/** A part of the settings with a list, and a button that adds to it. */
export function Section({ title, add, draft, error, children }: SectionProps) {
  const [isAdding, setAdding] = useOpen(draft);
  return (
    <section aria-label={title}>
      <div class="section-head section-row">
        <h2>{title}</h2>
        {!isAdding && (
          <button type="button" class="button" onClick={() => setAdding(true)}>
            {add}
          </button>
        )}
      </div>
      {error}
      {children(isAdding, () => setAdding(false))}
    </section>
  );
}

interface GroupItemProps<Answer> {
  /** Of the list that it is in. */
  readonly path: string;
  readonly group: { readonly id: string; readonly name: string };
  readonly about: string;
  readonly onChange: () => void;
  /** The form that changes it, with what its path answers. */
  readonly children: (answer: Answer, onEnd: (isSaved: boolean) => void) => ComponentChildren;
}

/** A row with what it is, to edit and to remove. */
export function GroupItem<Answer>({ path, group: { id, name }, about, onChange, children }: GroupItemProps<Answer>) {
  const item = `${path}/${id}`;
  const [isEditing, setEditing] = useOpen(item);
  const work = useWork();
  return (
    <li>
      <div class="item-head">
        <strong dir="auto">{name}</strong>
        <span class="muted" dir="auto">
          {about}
        </span>
        <span class="actions">
          <button type="button" class="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
            Edit<span class="sr-only"> {name}</span>
          </button>
          <RemoveButton confirm="Remove for good" path={item} work={work} onDone={onChange}>
            Remove
          </RemoveButton>
        </span>
      </div>
      <Problem problem={work.problem} />
      {isEditing && (
        <Read<Answer> path={item}>
          {(answer) =>
            children(answer, (isSaved) => {
              setEditing(false);
              if (isSaved) onChange();
            })
          }
        </Read>
      )}
    </li>
  );
}

interface PreviewProps<Answer> {
  readonly path: string;
  readonly body: object;
  readonly rowsOf: (answer: Answer) => readonly string[];
}

/** What a rule selects, before it is saved. */
export function Preview<Answer extends { readonly total: number }>({ path, body, rowsOf }: PreviewProps<Answer>) {
  const work = useWork();
  const [answer, setAnswer] = useState<Answer | undefined>();
  return (
    <>
      <div>
        <button
          type="button"
          class="button"
          disabled={work.isBusy}
          onClick={() => void work.run(async () => setAnswer(await send<Answer>('POST', path, body)))}
        >
          Show what it selects
        </button>
      </div>
      <Problem problem={work.problem} />
      {answer && (
        <div class="preview" role="status">
          <p>{plural(answer.total, 'member')}</p>
          <ul class="muted">
            {rowsOf(answer).map((row) => (
              <li key={row} dir="auto">
                {row}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
