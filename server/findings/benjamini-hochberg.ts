/**
 * The step-up p of each test of a family (Benjamini and Hochberg): the smallest share of false findings at which it is
 * listed.
 */
export function stepUp(p: Float64Array): Float64Array {
  const order = Uint32Array.from(p.keys()).sort((a, b) => p[a]! - p[b]!);
  const adjusted = new Float64Array(p.length);
  let least = 1;
  for (let rank = order.length; rank > 0; rank--) {
    const test = order[rank - 1]!;
    least = Math.min(least, (p[test]! * order.length) / rank);
    adjusted[test] = least;
  }
  return adjusted;
}
