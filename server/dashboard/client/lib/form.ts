import { useState } from 'preact/hooks';
import { ApiError, forgetAnswers, request } from './api.ts';

/** Sends a change. Throws `ApiError`; afterwards every screen asks again for what it shows. */
export async function send<T = undefined>(method: string, path: string, body?: object): Promise<T> {
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await request<T>(path, { method, ...sent });
  forgetAnswers();
  return answer;
}

/** Something that is being done, or why it could not be. */
export interface Work {
  readonly problem: ApiError | undefined;
  readonly isBusy: boolean;
  /** Returns whether it succeeded. */
  readonly run: (work: () => Promise<void>) => Promise<boolean>;
}

export function useWork(): Work {
  const [problem, setProblem] = useState<ApiError | undefined>();
  const [isBusy, setBusy] = useState(false);
  return {
    problem,
    isBusy,
    run: async (work) => {
      setBusy(true);
      setProblem(undefined);
      try {
        await work();
        return true;
      } catch (error) {
        setProblem(error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error), null));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
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
