/** The logarithm of the gamma function for positive values: Stirling's series, shifted to where it converges. */
export function logGamma(value: number): number {
  let factor = 1;
  let at = value;
  while (at < 10) factor *= at++;
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / at;
  return (at - 0.5) * Math.log(at) - at + HALF_LOG_2PI + series - Math.log(factor);
}

const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);

/** The probability that Student's t with `df` degrees of freedom is at most `value`. */
export function studentBelow(value: number, df: number): number {
  const tail = 0.5 * incompleteBeta(df / (df + value * value), df / 2, 0.5);
  return value > 0 ? 1 - tail : tail;
}

/** The regularised incomplete beta function: a continued fraction, on the side on which it converges. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  // Lentz's method.
  let [c, d] = [1, 1 / nonZero(1 - ((a + b) * x) / (a + 1))];
  let total = d;
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    total *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    const factor = d * c;
    total *= factor;
    if (Math.abs(factor - 1) < 1e-14) break;
  }
  return front * total;
}

const nonZero = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);
