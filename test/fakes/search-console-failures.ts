import known from '../fixtures/search-console-failures.json' with { type: 'json' };

/** An answer that is not the one asked for. `hang` never ends; `reset` ends the connection. */
export type Failure =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset'
  | 'drip'
  /** An answer without end, as it is or compressed. */
  | 'flood'
  | 'bomb';

type Answered = Extract<Failure, object>;
type AsTyped<T> = { readonly [name in keyof T]: T[name] extends string ? Failure : Answered };

/** Every way in which the API has been seen to fail, by name. */
export const FAILURES = known.data as AsTyped<typeof known.data>;
/** Failures of the token endpoint. */
export const TOKEN_FAILURES = known.token as AsTyped<typeof known.token>;
