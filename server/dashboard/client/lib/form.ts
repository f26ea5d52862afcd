import { useRef, useState } from 'preact/hooks';
import { ApiError, forgetAnswers, request } from './api.ts';
import { dropDraft, readDraft, writeDraft } from './drafts.ts';

/** A form, or a button, that is submitted. */
export interface Submitted {
  /** The same until the server has answered: what was created without an answer is not created again. */
  readonly key: string;
  /** Of what was read before it was changed. */
  readonly version?: string | undefined;
}

/** Sends a change. Throws `ApiError`; afterwards every screen asks again for what it shows. */
export async function send<T = undefined>(
  method: string,
  path: string,
  body?: object,
  submitted?: Submitted,
): Promise<T> {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(method === 'POST' && submitted && { 'idempotency-key': submitted.key }),
    ...(submitted?.version !== undefined && { 'if-match': `"${submitted.version}"` }),
  };
  const answer = await request<T>(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  forgetAnswers();
  return answer;
}

/** Something that is being done, or why it could not be. */
export interface Work {
  readonly problem: ApiError | undefined;
  readonly isBusy: boolean;
  /** Returns whether it succeeded. Does nothing while it runs: the second of two clicks. */
  readonly run: (work: (submitted: Submitted) => Promise<void>) => Promise<boolean>;
}

export function useWork(): Work {
  const [problem, setProblem] = useState<ApiError | undefined>();
  const [isBusy, setBusy] = useState(false);
  // A second click comes before the button is drawn as disabled.
  const isRunning = useRef(false);
  const key = useRef('');
  return {
    problem,
    isBusy,
    run: async (work) => {
      if (isRunning.current) return false;
      isRunning.current = true;
      setBusy(true);
      setProblem(undefined);
      key.current ||= crypto.randomUUID();
      try {
        await work({ key: key.current });
        key.current = '';
        return true;
      } catch (error) {
        const failure = error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error), null);
        if (isAnswer(failure)) key.current = '';
        setProblem(failure);
        return false;
      } finally {
        isRunning.current = false;
        setBusy(false);
      }
    },
  };
}

/** Ignores the second click of a double click, which would press what the first one has turned a button into. */
export function onSingleClick(press: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    if (detail <= 1) press();
  };
}

/** Whether the server has refused, so that nothing was created. After other failures it may have been. */
function isAnswer({ status }: ApiError): boolean {
  return status >= 400 && status < 500;
}

/** Where a form reads what it edits. */
interface Stored<Values> {
  readonly path: string;
  readonly version: string;
  /** The fields of what `path` answers. */
  // biome-ignore lint/suspicious/noExplicitAny: each path has an answer of its own
  readonly valuesOf: (answer: any) => Values;
}

interface FormOptions<Values> {
  /** The name of its draft, for one form of one thing: its path. */
  readonly draft: string;
  /** Fields that no draft has. */
  readonly secrets: readonly (keyof Values)[];
  /** Without it, the form creates something. */
  readonly stored?: Stored<Values> | undefined;
}

/** What is typed into a form, by field, and what became of sending it. */
export interface FormState<Values> extends Work {
  readonly values: Values;
  readonly set: (changes: Partial<Values>) => void;
  /** Like `run`, for what the form is about: its draft ends with it, and an edit is refused that others were before. */
  readonly save: Work['run'];
  /** Empties the form and forgets its draft. */
  readonly reset: () => void;
  /** When a draft that it begins with was typed, in milliseconds. */
  readonly restoredAt: number | undefined;
  /** What others have saved since it was read. */
  readonly theirs: Values | undefined;
  readonly takeTheirs: () => void;
}

export function useForm<Values extends object>(
  initial: Values,
  { draft, secrets, stored }: FormOptions<Values>,
): FormState<Values> {
  const work = useWork();
  const [restored, setRestored] = useState(() => readDraft<Values>(draft));
  const [values, setValues] = useState<Values>({ ...initial, ...restored?.values });
  const current = useRef(values);
  const version = useRef(restored?.version ?? stored?.version);
  const [theirs, setTheirs] = useState<Values | undefined>();
  const change = (next: Values): void => {
    current.current = next;
    setValues(next);
  };
  const forget = (): void => {
    dropDraft(draft);
    setRestored(undefined);
    setTheirs(undefined);
  };
  const save: Work['run'] = (send) =>
    work.run(async (submitted) => {
      try {
        await send({ ...submitted, version: version.current });
        forget();
      } catch (error) {
        if (stored !== undefined && error instanceof ApiError && error.code === 'outdated') {
          const answer = await request<{ version: string }>(stored.path);
          version.current = answer.version;
          setTheirs(stored.valuesOf(answer));
        }
        throw error;
      }
    });
  return {
    ...work,
    values,
    save,
    theirs,
    restoredAt: restored?.at,
    set: (changes) => {
      change({ ...current.current, ...changes });
      const kept = Object.entries(current.current).filter(([name]) => !secrets.includes(name as keyof Values));
      const typed = Object.fromEntries(kept) as Partial<Values>;
      writeDraft(draft, { values: typed, version: version.current, at: Date.now() });
    },
    reset: () => {
      change(initial);
      forget();
    },
    takeTheirs: () => {
      change(theirs!);
      forget();
    },
  };
}

/** The field that an error of the API names: its sentence begins with it, or says first that it is about a rule. */
export function fieldOf(problem: ApiError | undefined): string {
  return /^(?:The rule is invalid: )?'?([A-Za-z_]+)/.exec(problem?.message ?? '')?.[1] ?? '';
}

/** Texts that were typed one in a line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
