import { KnownError, unavailable } from '../domain/errors.ts';

/**
 * Why a provider gave no list:
 * - `access-lost`: the grant or the property is gone;
 * - `load-quota`: the property has been read too much and is to be left alone for a while;
 * - `rate-limit`: too many requests a moment ago; the property is to be left alone for a minute;
 * - `not-covered`: the provider does not have all days of the range;
 * - `misconfigured`: the operator's mistake, such as an API that is not enabled;
 * - `broken`: errors, time-outs, broken connections, answers that are not what was asked for.
 */
export type FailureKind = 'access-lost' | 'load-quota' | 'rate-limit' | 'not-covered' | 'misconfigured' | 'broken';

/**
 * What has to be done on the provider's side before a property can be read: credentials that work, the API enabled, the
 * account added as a user of the property, with a permission that suffices, and the property named as the provider does.
 */
export type SetupStep = 'credentials' | 'api' | 'user' | 'permission' | 'property';

/** A provider gave no list. The message is for the log: it has the provider's words, and no secrets. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  /** The same request may be answered a moment later. */
  readonly passing: boolean;
  /** Milliseconds that the provider asks to be left alone. */
  readonly retryAfter: number | undefined;
  /** The step of the setup that is missing, where the failure tells by itself. */
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

const SENTENCES: Record<FailureKind, string> = {
  'access-lost': 'The search provider no longer grants access to the property of this project.',
  'load-quota': 'The search provider allows no more reading of this property for the moment; ask again later.',
  'rate-limit': 'The search provider allows no more requests for the moment; ask again later.',
  'not-covered': 'The data warehouse of this project does not have all days of this range; ask for another range.',
  misconfigured: 'The search provider cannot be read; the operator of this service finds the reason in its log.',
  broken: 'The search provider cannot be reached right now; ask again later.',
};

/** A failure as clients see it: its meaning, never the provider's words. */
export function toKnownError(failure: unknown): unknown {
  if (!(failure instanceof ProviderFailure)) return failure;
  const message = SENTENCES[failure.kind];
  return failure.kind === 'access-lost'
    ? new KnownError('google_access_lost', message, { cause: failure })
    : unavailable(message, failure);
}
