/** Smaller probabilities count as this one. */
const LEAST = 1e-300;

/**
 * The probability of at most `count` events for a negative binomial distribution with this mean and variance, or for a
 * Poisson distribution if the variance is not above the mean.
 */
export function lowerTail(count: number, mean: number, variance: number): number {
  if (mean <= 0) return 1;
  const size = variance > mean * 1.0001 ? mean ** 2 / (variance - mean) : Number.POSITIVE_INFINITY;
  let logarithm = logProbability(count, mean, size);
  let total = 0;
  // Below the mean probabilities fall as counts do.
  for (let at = count; at >= 0; at--) {
    const term = Math.exp(logarithm);
    total += term;
    if (term < total * 1e-9 && at < mean) break;
    logarithm -=
      size === Number.POSITIVE_INFINITY
        ? Math.log(mean / at)
        : Math.log(((at - 1 + size) / at) * (mean / (size + mean)));
  }
  return Math.min(1, Math.max(LEAST, total));
}

function logProbability(count: number, mean: number, size: number): number {
  if (size === Number.POSITIVE_INFINITY) return count * Math.log(mean) - mean - logGamma(count + 1);
  return (
    logGamma(count + size) -
    logGamma(size) -
    logGamma(count + 1) +
    size * Math.log(size / (size + mean)) +
    count * Math.log(mean / (size + mean))
  );
}

/** The logarithm of the gamma function: Stirling's series, shifted to where it converges. */
function logGamma(value: number): number {
  let shift = 0;
  let at = value;
  while (at < 10) {
    shift += Math.log(at);
    at++;
  }
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / at;
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
