import { type CtrCurve, positionOf } from './ctr-curve.ts';
import type { Measures } from './metrics.ts';

/** Parts of a change that rows of both ranges have, in the order in which equal remainders are rounded up. */
const BY_POSITION = ['impressions', 'position', 'ctr'] as const;
const BY_RATIO = ['impressions', 'ctr'] as const;
type SharedPart = (typeof BY_POSITION)[number];

/** A change of clicks in whole clicks: the parts add up to the difference. Null for a part that is not known. */
export interface ChangeParts {
  /** More or fewer impressions. */
  readonly impressions: number | null;
  /** Better or worse positions, as the clicks that the property's curve expects from them. */
  readonly position: number | null;
  /** More or fewer clicks than impressions and positions explain. */
  readonly ctr: number | null;
  /** Clicks of rows that only the range has. */
  readonly gained: number;
  /** Minus the clicks of rows that only the other range has. */
  readonly lost: number;
  /** The first three together, where the provider counted the ranges differently; else null. */
  readonly clicks: number | null;
}

/** The first three parts before rounding. */
export type SharedParts = Readonly<Record<SharedPart, number>>;

const NO_PARTS: SharedParts = { impressions: 0, position: 0, ctr: 0 };

/** How a change is split. */
export interface Split {
  /** The expected CTR by position; null to tell only impressions and CTR apart. */
  readonly curve: CtrCurve | null;
  /** Whether impressions and positions of the two ranges can be compared. */
  readonly isSafe: boolean;
}

/**
 * The parts of the change of a row that both ranges have, by the Shapley value: each factor's share of the change, as the
 * average over all orders in which the factors could have changed. Their sum is the change of its clicks.
 *
 * With a curve clicks are impressions × expected CTR at the position × how far the row is from that; without one they are
 * impressions × CTR.
 */
export function sharedParts(now: Measures, base: Measures, { curve }: Pick<Split, 'curve'>): SharedParts {
  const [n1, n0] = [now.impressions, base.impressions];
  if (curve === null) {
    const [r1, r0] = [now.clicks / n1, base.clicks / n0];
    return { impressions: ((n1 - n0) * (r0 + r1)) / 2, position: 0, ctr: ((r1 - r0) * (n0 + n1)) / 2 };
  }
  const [f1, f0] = [curve.at(positionOf(now)), curve.at(positionOf(base))];
  // Nothing is expected where no row has clicks.
  if (f1 === 0 || f0 === 0) return NO_PARTS;
  const [k1, k0] = [now.clicks / (n1 * f1), base.clicks / (n0 * f0)];
  return {
    impressions: (n1 - n0) * shareOf(f0, k0, f1, k1),
    position: (f1 - f0) * shareOf(n0, k0, n1, k1),
    ctr: (k1 - k0) * shareOf(n0, f0, n1, f1),
  };
}

/** The average of the product of the two other factors, over the orders in which they could have changed. */
function shareOf(a0: number, b0: number, a1: number, b1: number): number {
  return (a0 * b0) / 3 + (a1 * b1) / 3 + (a0 * b1) / 6 + (a1 * b0) / 6;
}

/**
 * Parts in whole clicks. The shared ones add up to a whole number: each is rounded down, and the clicks that are then missing
 * go to the largest remainders. Remainders nearer than a millionth are equal.
 * @param total what the shared parts add up to
 */
export function wholeParts(
  shared: SharedParts,
  total: number,
  { gained, lost }: Pick<ChangeParts, 'gained' | 'lost'>,
  { curve, isSafe }: Split,
): ChangeParts {
  if (!isSafe) return { impressions: null, position: null, ctr: null, gained, lost, clicks: total };
  const whole = { ...NO_PARTS };
  const remainders = new Map<SharedPart, number>();
  let missing = total;
  for (const name of curve === null ? BY_RATIO : BY_POSITION) {
    // Adding 0 makes -0 a 0.
    whole[name] = Math.floor(shared[name]) + 0;
    remainders.set(name, shared[name] - whole[name]);
    missing -= whole[name];
  }
  for (; missing > 0 && remainders.size > 0; missing--) {
    const name = largest(remainders);
    remainders.delete(name);
    whole[name]++;
  }
  return { ...whole, position: curve === null ? null : whole.position, gained, lost, clicks: null };
}

const EQUAL = 1e-6;

function largest(remainders: ReadonlyMap<SharedPart, number>): SharedPart {
  const most = Math.max(...remainders.values());
  const [[name]] = [...remainders].filter(([, remainder]) => most - remainder < EQUAL) as [[SharedPart, number]];
  return name;
}

/** The parts of the change of one row, in whole clicks. A row without impressions in a range is not in it. */
export function partsOfRow(now: Measures, base: Measures, split: Split): ChangeParts {
  const isInBoth = now.impressions > 0 && base.impressions > 0;
  const shared = isInBoth ? sharedParts(now, base, split) : NO_PARTS;
  const gained = base.impressions === 0 ? now.clicks : 0;
  const lost = now.impressions === 0 ? 0 - base.clicks : 0;
  return wholeParts(shared, now.clicks - base.clicks - gained - lost, { gained, lost }, split);
}
