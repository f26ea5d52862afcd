import { KnownError, unavailable } from '../domain/errors.ts';

/**
 * Why a provider request failed:
 * - `access-lost`: the grant or the property no longer exists;
 * - `load-quota`: the load quota of the property is exhausted; requests pause for a longer time;
 * - `rate-limit`: too many requests; requests pause for a minute;
 * - `not-covered`: the provider does not have all days of the range;
 * - `misconfigured`: a mistake of the operator, such as an API that is not enabled;
 * - `broken`: errors, timeouts, broken connections, invalid responses.
 */
export type FailureKind = 'access-lost' | 'load-quota' | 'rate-limit' | 'not-covered' | 'misconfigured' | 'broken';

/**
 * Setup steps on the provider's side: valid credentials, the API enabled, the account added as a user of the property, with
 * sufficient permission, and the exact name of the property.
 */
export type SetupStep = 'credentials' | 'api' | 'user' | 'permission' | 'property';

/** A provider request failed. The message is for the log: it contains the provider's message, but no secrets. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  /** A retry may succeed. */
  readonly passing: boolean;
  /** The pause that the provider requests, in milliseconds. */
  readonly retryAfter: number | undefined;
  /** The missing setup step, if the failure identifies it. */
  readonly step: SetupStep | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    options: { passing?: boolean; retryAfter?: number | undefined; step?: SetupStep | undefined } = {},
  ) {
    super(message);
    this.name = 'ProviderFailure';
    this.kind = kind;
    this.passing = options.passing ?? kind === 'broken';
    this.retryAfter = options.retryAfter;
    this.step = options.step;
  }
}

/** A missing setup step on the provider's side, and instructions for it. */
export interface MissingStep {
  readonly step: SetupStep;
  readonly advice: string;
}

/** The message of a failure, with one full stop. */
export function sentenceOf({ message }: Pick<Error, 'message'>): string {
  return `${message.replace(/\.$/, '')}.`;
}

/** What clients are told of the failures of a provider. */
export interface ClientErrors {
  /** The code of lost access. */
  readonly accessLost: KnownError['code'];
  readonly sentences: Readonly<Record<FailureKind, string>>;
}

/** The error for clients, without the provider's message. */
export function toKnownError(failure: unknown, { accessLost, sentences }: ClientErrors): unknown {
  if (!(failure instanceof ProviderFailure)) return failure;
  const message = sentences[failure.kind];
  return failure.kind === 'access-lost'
    ? new KnownError(accessLost, message, { cause: failure })
    : unavailable(message, `provider-${failure.kind}`, failure);
}
