import { useRef, useState } from 'preact/hooks';
import { ApiError, forgetAnswers, request } from './api.ts';

/** A form, or a button, that is submitted. */
export interface Submitted {
  /** The same until the server has answered: what was created without an answer is not created again. */
  readonly key: string;
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
    ...(submitted && { 'idempotency-key': submitted.key }),
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

/** What is typed into a form, by field, and what became of sending it. */
export interface FormState<Values> extends Work {
  readonly values: Values;
  readonly set: (changes: Partial<Values>) => void;
  readonly reset: () => void;
}

export function useForm<Values extends object>(initial: Values): FormState<Values> {
  const [values, setValues] = useState(initial);
  return {
    ...useWork(),
    values,
    set: (changes) => setValues((before) => ({ ...before, ...changes })),
    reset: () => setValues(initial),
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
