import { MIN_CLICKS, type Question, type Score, type Scores, STEP, score, type WindowLengths } from './scores.ts';

/** Fewer placebos cannot give a p below 0.05 with confidence. */
export const MIN_PLACEBOS = 40;
/** The two-sided level of p and of the interval. */
export const LEVEL = 0.05;
/** The share of effects that are found. */
const POWER = 0.8;
/** How unlike the subject's clicks a placebo's may be: a standard deviation of their logarithms. */
const SIZE_WIDTH = 1;

export interface Estimate {
  /** Null without a finished window after the change, with too few clicks, placebos (or of like size) or controls. */
  readonly effect: {
    /** Clicks after the change that were expected without it. */
    readonly expected: number;
    /** Relative changes: 0.3 is 30 % more than expected. `low` and `high` hold the true one in 95 % of cases. */
    readonly ratio: number;
    readonly low: number;
    readonly high: number;
    /** How often nothing looks like this, two-sided. */
    readonly p: number;
  } | null;
  /** Placebos, and the share of them that would have been called an effect. */
  readonly placebo: { readonly count: number; readonly falseAlarmRate: number };
  /** The smallest relative increase that is found in 80 % of cases; null if there is no way to know. */
  readonly detectable: number | null;
  /** Controls, and by how much their clicks differed from what was expected, relative, root mean square. */
  readonly control: { readonly members: number; readonly error: number } | null;
  /** Clicks of the subject before the change. */
  readonly clicks: number;
}

/**
 * Estimates the effect of a change: the subject's clicks after it against what controls make expect. Effects are divided
 * by their standard deviation, by counting and scatter; p is the rank of the subject's among those of placebos, which
 * count more the more like the subject's their clicks are. Yields between short steps.
 */
export function* estimate(question: Question): Generator<void, Estimate> {
  const scores = yield* score(question);
  const { subject, placebos, controls, clicks } = scores;
  const base = { placebo: { count: placebos.length, falseAlarmRate: 0 }, detectable: null, effect: null, clicks };
  if (clicks < MIN_CLICKS || controls === 0 || placebos.length < MIN_PLACEBOS) return { ...base, control: null };
  const ranks = new Ranks(scores, overlapOf(question.lengths));
  if (!ranks.canExceed) return { ...base, control: null };
  yield;
  const falseAlarmRate = yield* ranks.falseAlarmRate();
  const { expected, deviation } = expectedOf(scores, question);
  const control = { members: controls, error: ranks.error };
  const known = { ...base, placebo: { count: placebos.length, falseAlarmRate }, control };
  const detectable = Math.expm1(deviation * (ranks.threshold - ranks.lower(1 - POWER)));
  if (subject === undefined) return { ...known, detectable };
  const margin = ranks.threshold * deviation;
  return {
    ...known,
    detectable,
    effect: {
      expected,
      ratio: Math.expm1(subject.effect),
      low: Math.expm1(subject.effect - margin),
      high: Math.expm1(subject.effect + margin),
      p: ranks.p(Math.abs(subject.effect) / deviation),
    },
  };
}

/** The expected clicks of the subject, and the standard deviation of its effect. */
function expectedOf({ subject, clicks, scatter, scatterFactor }: Scores, { lengths }: Question) {
  if (subject !== undefined) return { expected: subject.expected, deviation: deviationOf(subject, scatterFactor) };
  const expected = (clicks * lengths.after) / lengths.before;
  const counting = 1 / (clicks + 0.5) + 1 / (expected + 0.5);
  return { expected, deviation: Math.sqrt(counting + scatterFactor * scatter) };
}

function deviationOf({ counting, scatter }: Score, factor: number): number {
  return Math.sqrt(counting + factor * scatter);
}

/**
 * How many placebos say as much as one: those of a unit are a week apart, so that their windows share days. By the squares
 * of the shared parts, as for the variance of a moving average.
 */
function overlapOf({ after }: WindowLengths): number {
  let overlap = 1;
  for (let apart = STEP; apart < after; apart += STEP) overlap += 2 * (1 - apart / after) ** 2;
  return overlap;
}

/** Placebos in the order of their deviations from what was expected, largest first. */
class Ranks {
  /** Deviations as multiples of their standard deviation. */
  readonly #values: Float64Array;
  readonly #units: Int32Array;
  readonly #weights: Float64Array;
  /** The weight of each placebo and those before it. */
  readonly #sums: Float64Array;
  readonly #total: number;
  /** What the subject itself counts among placebos: as much as those that overlap. */
  readonly #overlap: number;
  /** Deviations beyond this one are effects. */
  readonly threshold: number;
  readonly error: number;
  /** Whether a deviation beyond those of all placebos would be an effect. */
  readonly canExceed: boolean;

  constructor({ placebos, clicks, scatterFactor }: Scores, overlap: number) {
    const sorted = placebos
      .map((one) => ({ one, value: one.effect / deviationOf(one, scatterFactor) }))
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    this.#values = Float64Array.from(sorted, ({ value }) => value);
    this.#units = Int32Array.from(sorted, ({ one }) => one.unit);
    this.#weights = Float64Array.from(sorted, ({ one }) => likeness(one.clicks, clicks));
    this.#sums = new Float64Array(sorted.length);
    let [sum, squares] = [0, 0];
    for (const [index, weight] of this.#weights.entries()) {
      sum += weight;
      squares += weight * sorted[index]!.one.effect ** 2;
      this.#sums[index] = sum;
    }
    this.#total = sum;
    this.error = Math.expm1(Math.sqrt(squares / (sum || 1)));
    // With few placebos, one beyond all of them is an effect still.
    this.#overlap = Math.min(overlap, Math.max(1, LEVEL * sum));
    this.canExceed = this.p(Number.POSITIVE_INFINITY) < LEVEL;
    const first = this.#sums.findIndex((above) => this.#overlap + above >= LEVEL * (this.#overlap + sum));
    this.threshold = Math.abs(this.#values[first === -1 ? this.#values.length - 1 : first]!);
  }

  /** How often a deviation as large as this one comes by chance. */
  p(value: number): number {
    let count = 0;
    while (count < this.#values.length && Math.abs(this.#values[count]!) >= value) count++;
    return (this.#overlap + (count === 0 ? 0 : this.#sums[count - 1]!)) / (this.#overlap + this.#total);
  }

  /** The deviation that this share of placebos is below. */
  lower(share: number): number {
    const order = Array.from(this.#values.keys()).sort((a, b) => this.#values[a]! - this.#values[b]!);
    let below = 0;
    for (const index of order) {
      below += this.#weights[index]!;
      if (below >= share * this.#total) return this.#values[index]!;
    }
    return 0;
  }

  /** The share of placebos whose p, from those of other units, is below the level. */
  *falseAlarmRate(): Generator<void, number> {
    const ofUnit = new Map<number, number[]>();
    for (const [index, unit] of this.#units.entries()) {
      const known = ofUnit.get(unit);
      if (known === undefined) ofUnit.set(unit, [index]);
      else known.push(index);
    }
    yield;
    let alarms = 0;
    for (const indexes of ofUnit.values()) {
      const total = this.#total - indexes.reduce((sum, index) => sum + this.#weights[index]!, 0);
      let before = 0;
      for (const index of indexes) {
        const above = index === 0 ? 0 : this.#sums[index - 1]! - before;
        if ((this.#overlap + above) / (this.#overlap + total) < LEVEL) alarms += this.#weights[index]!;
        before += this.#weights[index]!;
      }
      yield;
    }
    return alarms / (this.#total || 1);
  }
}

function likeness(clicks: number, other: number): number {
  return Math.exp(-0.5 * (Math.log(clicks / other) / SIZE_WIDTH) ** 2);
}
