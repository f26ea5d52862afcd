/** A user rule: compares a metric of a window with a value, or with the same metric of another window. */
export interface AlertRule {
  readonly scope: (typeof SCOPES)[number];
  /** The id of the group, keyword or page group. */
  readonly id?: string;
  readonly metric: (typeof METRICS)[number];
  /** A number of days that ends on the evaluated day, such as `7d`. */
  readonly window: string;
  readonly against: (typeof AGAINST)[number];
  readonly op: 'lt' | 'gt' | 'falls_by' | 'rises_by';
  readonly value: number;
  /** The unit of `value` and `resolve_at`: per cent of the other window's figure or of a ratio, or absolute. */
  readonly unit?: (typeof UNITS)[number];
  /** With fewer impressions in the window the rule has no result. */
  readonly min_impressions?: number;
  /** Consecutive evaluations on which the condition must hold. */
  readonly for?: number;
  /** The value at which an open alert resolves; by default it resolves when the condition no longer holds. */
  readonly resolve_at?: number;
}

const SCOPES = ['site', 'group', 'keyword', 'page_group'] as const;
const METRICS = ['clicks', 'impressions', 'ctr', 'position'] as const;
const AGAINST = ['value', 'previous', 'year'] as const;
const UNITS = ['percent', 'absolute'] as const;
const OPERATORS = { value: ['lt', 'gt'], previous: ['falls_by', 'rises_by'], year: ['falls_by', 'rises_by'] };
const FIELDS = [
  ...['scope', 'id', 'metric', 'window', 'against', 'op', 'value', 'unit'],
  ...['min_impressions', 'for', 'resolve_at'],
];

const SHORT_ID = /^[A-Za-z0-9]{5}$/;
/** Longer windows would overlap in a comparison with the previous year. */
const MAX_WINDOW = 364;
const MAX_FOR = 90;

/** The length of a rule's window in days. */
export function windowDays({ window }: Pick<AlertRule, 'window'>): number {
  return Number(window.slice(0, -1));
}

/** A message that names the wrong field of a rule and the valid values; undefined for a valid rule. */
export function alertRuleProblem(rule: unknown): string | undefined {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    return `a rule must be an object with ${FIELDS.slice(0, 7).join(', ')}`;
  }
  const unknown = Object.keys(rule).filter((name) => !FIELDS.includes(name));
  if (unknown.length > 0) return `unknown field ${quote(unknown[0])}; a field is one of ${FIELDS.join(', ')}`;
  const given = rule as Readonly<Record<string, unknown>>;
  return (
    choiceProblem(given, 'scope', SCOPES) ??
    idProblem(given) ??
    choiceProblem(given, 'metric', METRICS) ??
    windowProblem(given) ??
    choiceProblem(given, 'against', AGAINST) ??
    choiceProblem(
      given,
      'op',
      OPERATORS[given['against'] as keyof typeof OPERATORS],
      `against ${quote(given['against'])}`,
    ) ??
    numberProblem(given, 'value') ??
    unitProblem(given) ??
    wholeProblem(given, 'min_impressions', { from: 0, to: Number.MAX_SAFE_INTEGER }) ??
    wholeProblem(given, 'for', { from: 1, to: MAX_FOR }) ??
    resolveProblem(given)
  );
}

type Given = Readonly<Record<string, unknown>>;

function choiceProblem(given: Given, name: string, choices: readonly string[], when = ''): string | undefined {
  if (choices.includes(given[name] as string)) return undefined;
  return `${name}${when && ` ${when}`} must be one of ${choices.join(', ')}, not ${quote(given[name])}`;
}

function idProblem({ scope, id }: Given): string | undefined {
  if (scope === 'site') return id === undefined ? undefined : 'a rule of scope site has no id';
  if (typeof id === 'string' && SHORT_ID.test(id)) return undefined;
  return `id must be that of a ${String(scope).replace('_', ' ')}, five letters or digits, not ${quote(id)}`;
}

function windowProblem({ window }: Given): string | undefined {
  const days = typeof window === 'string' && /^[1-9]\d*d$/.test(window) ? Number(window.slice(0, -1)) : Number.NaN;
  if (days <= MAX_WINDOW) return undefined;
  return `window must be a number of days from 1d to ${MAX_WINDOW}d, such as 7d, not ${quote(window)}`;
}

function numberProblem(given: Given, name: string): string | undefined {
  const value = given[name];
  return Number.isFinite(value) ? undefined : `${name} must be a number, not ${quote(value)}`;
}

function unitProblem({ unit, against, metric, value, op }: Given): string | undefined {
  if (against === 'value') {
    if (unit === undefined || unit === 'absolute') return undefined;
    if (unit !== 'percent') return choiceProblem({ unit }, 'unit', UNITS);
    return metric === 'ctr'
      ? undefined
      : `unit percent against a value is for ctr alone; ${String(metric)} is absolute`;
  }
  if ((value as number) <= 0) return `value of ${String(op)} must be more than 0, not ${quote(value)}`;
  return choiceProblem({ unit }, 'unit', UNITS);
}

function wholeProblem(given: Given, name: string, { from, to }: { from: number; to: number }): string | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to) return undefined;
  return `${name} must be a whole number from ${from}${to > 1e15 ? '' : ` to ${to}`}, not ${quote(value)}`;
}

function resolveProblem(given: Given): string | undefined {
  const { resolve_at: resolveAt, op, value } = given;
  if (resolveAt === undefined) return undefined;
  const problem = numberProblem(given, 'resolve_at');
  if (problem !== undefined) return problem;
  const isPast = op === 'lt' ? (resolveAt as number) >= (value as number) : (resolveAt as number) <= (value as number);
  if (isPast) return undefined;
  return `resolve_at of ${String(op)} must be ${op === 'lt' ? 'at least' : 'at most'} the value ${String(value)}, not ${quote(resolveAt)}`;
}

function quote(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
