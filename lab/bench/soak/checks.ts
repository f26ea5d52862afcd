import type { Metrics } from './body.ts';
import type { Sums } from './facts.ts';
import { type Got, Unexpected } from './http.ts';
import type { State, Truth } from './truth.ts';

/** What is wrong with metrics; undefined: nothing. */
export function wrongMetrics(what: string, row: Metrics | undefined, sums: Sums): string | undefined {
  if (row === undefined) return `${what} is missing`;
  const { clicks, impressions, sum_position } = sums;
  const ctr = impressions === 0 ? null : clicks / impressions;
  const position = impressions === 0 ? null : sum_position / impressions + 1;
  const found = `${what} is ${JSON.stringify([row.clicks, row.impressions, row.ctr, row.position])}`;
  const right = `not ${JSON.stringify([clicks, impressions, ctr, position])}`;
  const same =
    Number(row.clicks) === clicks &&
    Number(row.impressions) === impressions &&
    isRounded(row.ctr, ctr, 0.00005) &&
    isRounded(row.position, position, 0.05);
  return same ? undefined : `${found}, ${right}`;
}

function isRounded(value: unknown, exact: number | null, half: number): boolean {
  if (exact === null) return value === null || value === '';
  return value !== null && value !== '' && Math.abs(Number(value) - exact) <= half + 1e-9;
}

/** What is wrong with rows that must be exactly those with sums; undefined: nothing. */
export function wrongRows(
  what: string,
  rows: readonly (readonly [string, Metrics])[],
  sums: ReadonlyMap<string, Sums>,
): string | undefined {
  const named = new Map(rows);
  if (named.size !== rows.length) return `${what} has a row twice`;
  if (rows.length !== sums.size) return `${what} has ${rows.length} rows, not ${sums.size}`;
  return first(
    [...sums].map(
      ([key, own]) =>
        () =>
          wrongMetrics(`${what} ${key}`, named.get(key), own),
    ),
  );
}

/** The first problem that one of these finds. */
export function first(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Throws unless these answers, which belong together, show one of the states that were stored meanwhile, as a whole. */
export function checkState(truth: Truth, got: readonly Got[], check: (state: State) => string | undefined): void {
  const start = Math.min(...got.map((one) => one.start));
  const end = Math.max(...got.map((one) => one.end));
  const states = truth.between(start, end);
  const problems = states.map((state) => ({ state, problem: check(state) }));
  const right = problems.filter(({ problem }) => problem === undefined);
  if (right.length === 1) truth.seen(right[0]!.state);
  if (right.length > 0) return;
  const texts = problems.map(({ state, problem }) => `state ${state.number}: ${problem}`).join('; ');
  throw new Unexpected(`${got.map(({ path }) => path).join(', ')}: ${texts}`);
}
