/*
 * Numbers in texts for people. Only this file rounds them, once, so pass computed numbers and not those of an answer, which
 * are rounded already. Halves are rounded away from zero, as in answers.
 */

/** Formats with 0, 1 and 2 decimals. */
const formats = (options: Intl.NumberFormatOptions): Intl.NumberFormat[] =>
  [0, 1, 2].map(
    (digits) =>
      new Intl.NumberFormat('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        signDisplay: 'negative',
        ...options,
      }),
  );
const [WHOLE] = formats({});
const DECIMALS = formats({ useGrouping: false });
const PERCENT = formats({ style: 'percent' });

/** `1,235`. */
export function wholeText(value: number): string {
  return WHOLE!.format(withoutNoise(value));
}

/** `4.0`. */
export function decimalText(value: number, decimals: 1 | 2): string {
  return DECIMALS[decimals]!.format(withoutNoise(value));
}

/** A share in percent: `22%`, `22.0%`. */
export function percentText(share: number, decimals: 0 | 1 | 2 = 0): string {
  return PERCENT[decimals]!.format(withoutNoise(share));
}

/**
 * Removes the noise of binary fractions, so that a half stays a half: 0.0291 / 0.02 - 1 is 0.455 and not
 * 0.45499999999999985. No other quotient of counts up to some 10 billion is so close to a half.
 */
function withoutNoise(value: number): number {
  return Number(value.toPrecision(14));
}
