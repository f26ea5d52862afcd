/*
 * Numbers in texts for people. Each is rounded here and only here, once, from what it was computed as: a number of an
 * answer is rounded already. Halves are rounded away from zero, as in answers.
 */

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0, signDisplay: 'negative' });
const DECIMALS = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat('en-US', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
      signDisplay: 'negative',
    }),
);
const PERCENT = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat('en-US', {
      style: 'percent',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      signDisplay: 'negative',
    }),
);

/** `1,235`. */
export function wholeText(value: number): string {
  return WHOLE.format(exactly(value));
}

/** `4.0`. */
export function decimalText(value: number, decimals: 1 | 2): string {
  return DECIMALS[decimals]!.format(exactly(value));
}

/** A share in percent: `22%`, `22.0%`. */
export function percentText(share: number, decimals: 0 | 1 | 2 = 0): string {
  return PERCENT[decimals]!.format(exactly(share));
}

/**
 * Without the noise of binary fractions: 0.0291 / 0.02 - 1 is 0.455 and not 0.45499999999999985, so that a half stays a
 * half. Quotients of counts that are not halves are further from one, up to some 10 billion.
 */
function exactly(value: number): number {
  return Number(value.toPrecision(14));
}
