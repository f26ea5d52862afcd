import { type ComponentChildren, toChildArray } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { type ApiError, request } from '../lib/api.ts';
import { formatAgo } from '../lib/dates.ts';
import { type FormState, fieldOf, onSingleClick, type Submitted, send, useWork, type Work } from '../lib/form.ts';
import { Icon } from './icons.tsx';
import { Skeleton } from './states.tsx';

interface FormProps<Values> {
  readonly form: FormState<Values>;
  /** The fields that show what is wrong with them. */
  readonly fields: readonly string[];
  /** The names of the fields that others may have changed, of a form that edits something. */
  readonly labels?: Partial<Record<keyof Values & string, string>>;
  /** A field as a text. */
  readonly show?: (values: Values, name: keyof Values & string) => string;
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly onCancel?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** A form that keeps what was typed until it was accepted. */
export function Form<Values extends object>(props: FormProps<Values>) {
  const { form, fields, submit, onSubmit, onCancel, children, labels = {}, show = textOf } = props;
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {form.restoredAt !== undefined && (
        <p class="restored" role="status">
          What you had typed {formatAgo(new Date(form.restoredAt).toISOString())} is back.{' '}
          <button type="button" class="button" onClick={form.reset}>
            Start afresh
          </button>
        </p>
      )}
      {children}
      <Problem problem={fields.includes(fieldOf(form.problem)) ? undefined : form.problem} />
      {form.theirs && <Theirs form={form} theirs={form.theirs} labels={labels} show={show} />}
      <div class="form-buttons">
        <button type="submit" class="button button-main" disabled={form.isBusy}>
          {form.isBusy ? 'One moment…' : submit}
        </button>
        {onCancel && (
          <button
            type="button"
            class="button"
            onClick={() => {
              form.reset();
              onCancel();
            }}
          >
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** What others have saved beside what was typed, field by field. */
function Theirs<Values extends object>({
  form,
  theirs,
  labels,
  show,
}: Pick<FormProps<Values>, 'form'> & Required<Pick<FormProps<Values>, 'labels' | 'show'>> & { theirs: Values }) {
  const named = Object.entries(labels) as [keyof Values & string, string][];
  const different = named.filter(([name]) => show(theirs, name) !== show(form.values, name));
  return (
    <section class="theirs" aria-label="Changed meanwhile">
      {different.length === 0 ? (
        <p>What was saved meanwhile is the same as yours.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Saved meanwhile</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {different.map(([name, label]) => (
              <tr key={name}>
                <th scope="row">{label}</th>
                <td dir="auto">{show(theirs, name)}</td>
                <td dir="auto">{show(form.values, name)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>
        <button type="button" class="button" onClick={form.takeTheirs}>
          Use what was saved
        </button>{' '}
        <span class="muted">Or save yours in its place.</span>
      </p>
    </section>
  );
}

function textOf<Values extends object>(values: Values, name: keyof Values & string): string {
  const value: unknown = values[name];
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Reads what is edited when the form opens: a list may be older. */
export function Read<Answer>({ path, children }: { path: string; children: (answer: Answer) => ComponentChildren }) {
  const [answer, setAnswer] = useState<Answer | undefined>();
  const work = useWork();
  useEffect(() => void work.run(async () => setAnswer(await request<Answer>(path))), [path]);
  if (work.problem) return <Problem problem={work.problem} />;
  return answer === undefined ? <Skeleton lines={3} /> : children(answer);
}

/** Why something was not done. */
export function Problem({ problem }: { problem: ApiError | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="problem" role="alert">
      {problem.message}
    </p>
  );
}

interface Attributes {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid'?: boolean;
}

interface FieldProps {
  readonly work: Work;
  /** As the API names it. */
  readonly name: string;
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly children: (attributes: Attributes) => ComponentChildren;
}

/** A field with its label, what to write into it, and what is wrong with what was written. */
export function Field({ work, name, label, help, children }: FieldProps) {
  const id = useId();
  const isWrong = fieldOf(work.problem) === name;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-help`, ...(isWrong && { 'aria-invalid': true }) })}
      <div class="field-help" id={`${id}-help`}>
        {isWrong && <Problem problem={work.problem} />}
        {help && <p class="muted">{help}</p>}
      </div>
    </div>
  );
}

interface TextProps<Values> extends Omit<FieldProps, 'work' | 'children' | 'name'> {
  readonly form: FormState<Values>;
  readonly name: keyof Values & string;
  readonly rows?: number;
  readonly type?: 'text' | 'date' | 'email' | 'password' | 'url';
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  readonly autocomplete?: string;
}

/** A field for a text; with `rows` for one of several lines. */
export function TextField<Values extends object>({
  form,
  rows,
  type = 'text',
  isRequired = false,
  ...props
}: TextProps<Values>) {
  const { name, label, help, ...more } = props;
  const value = form.values[name] as string;
  const onInput = (event: { currentTarget: { value: string } }): void =>
    form.set({ [name]: event.currentTarget.value } as Partial<Values>);
  return (
    <Field work={form} name={name} label={label} help={help}>
      {(attributes) => {
        const all = { ...attributes, ...more, value, onInput, required: isRequired, dir: 'auto' as const };
        // The types of inputs allow each type for itself only.
        return rows === undefined ? <input {...all} type={type as 'text'} /> : <textarea {...all} rows={rows} />;
      }}
    </Field>
  );
}

interface ChoiceProps<Values> extends Omit<FieldProps, 'work' | 'children' | 'name'> {
  readonly form: FormState<Values>;
  readonly name: keyof Values & string;
  readonly options: readonly (readonly [value: string, name: string])[];
}

export function ChoiceField<Values extends object>({ form, name, label, help, options }: ChoiceProps<Values>) {
  return (
    <Field work={form} name={name} label={label} help={help}>
      {(attributes) => (
        <span class="select">
          <select
            {...attributes}
            value={form.values[name] as string}
            onChange={(event) => form.set({ [name]: event.currentTarget.value } as Partial<Values>)}
          >
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
          <Icon name="chevron" />
        </span>
      )}
    </Field>
  );
}

interface NumberFieldProps<Values extends object> {
  readonly form: FormState<Values>;
  readonly name: keyof Values & string;
  /** As the API names it, if that is another word. */
  readonly field?: string;
  readonly label: string;
  readonly min?: number;
  readonly max?: number;
  readonly isOptional?: boolean;
}

/** A number. */
export function NumberField<Values extends object>({
  form,
  name,
  field = name,
  label,
  min,
  max,
  isOptional = false,
}: NumberFieldProps<Values>) {
  return (
    <Field work={form} name={field} label={label}>
      {(attributes) => (
        <input
          {...attributes}
          type="number"
          step="any"
          min={min}
          max={max}
          required={!isOptional}
          value={form.values[name] as string}
          onInput={(event) => form.set({ [name]: event.currentTarget.value } as Partial<Values>)}
        />
      )}
    </Field>
  );
}

interface ManyProps {
  readonly legend: string;
  /** Shows what is wrong with the field `name`. */
  readonly work?: Work;
  readonly name?: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: string[]) => void;
}

/** Any of a few values. */
export function ManyField({ legend, work, name, options, chosen, onChange }: ManyProps) {
  const isWrong = work !== undefined && fieldOf(work.problem) === name;
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      {options.map(([value, text]) => (
        <label key={value} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
            }
          />
          {text}
        </label>
      ))}
      {isWrong && <Problem problem={work.problem} />}
    </fieldset>
  );
}

interface ConfirmProps {
  readonly children: ComponentChildren;
  /** What a second press does. */
  readonly confirm: string;
  /** Shows that it runs, and why it failed. */
  readonly work: Work;
  readonly onConfirm: (submitted: Submitted) => Promise<unknown>;
  /** It succeeded. */
  readonly onDone: () => void;
}

/** A button for what cannot be undone: a second press does it. */
export function ConfirmButton({ children, confirm, work, onConfirm, onDone }: ConfirmProps) {
  const [isAsked, setAsked] = useState(false);
  return (
    <button
      type="button"
      class={`button ${isAsked ? 'button-danger' : ''}`}
      disabled={work.isBusy}
      onBlur={() => setAsked(false)}
      onClick={onSingleClick(() => {
        setAsked(!isAsked);
        if (!isAsked) return;
        void work.run(async (submitted) => {
          await onConfirm(submitted);
          onDone();
        });
      })}
    >
      {isAsked ? confirm : children}
    </button>
  );
}

/** A button that removes what the path names. */
export function RemoveButton({ path, ...props }: Omit<ConfirmProps, 'onConfirm'> & { readonly path: string }) {
  return <ConfirmButton {...props} onConfirm={() => send('DELETE', path)} />;
}

/** What is shown once, to be copied. */
export function Secret({ label, value }: { label: string; value: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="notice notice-good" role="status">
      <div>
        <p>{label} It is shown this once.</p>
        <code class="command">{value}</code>
      </div>
      <button
        type="button"
        class="button"
        onClick={() => void navigator.clipboard.writeText(value).then(() => setCopied(true))}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** Rows of what a workspace has; nothing without rows. */
export function ItemList({ label, children }: { label: string; children: ComponentChildren }) {
  if (toChildArray(children).length === 0) return null;
  return (
    <ul class="card items" aria-label={label}>
      {children}
    </ul>
  );
}

/** The title of the browser's tab, on screens that are not about a project. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Ordinate`;
  }, [title]);
}
