/**
 * The step-up p of each test of a family (Benjamini and Hochberg): the smallest share of false findings at which it is
 * listed. The tests may come in several parts.
 */
export function stepUp(parts: readonly Float64Array[]): Float64Array[] {
  const count = parts.reduce((sum, part) => sum + part.length, 0);
  const p = new Float64Array(count);
  let filled = 0;
  for (const part of parts) {
    p.set(part, filled);
    filled += part.length;
  }
  // Those of 1 stay so and come last, and most p of rows that are shown are 1: they need no place.
  const order = Uint32Array.from(p.keys())
    .filter((test) => p[test]! < 1)
    .sort((a, b) => p[a]! - p[b]!);
  const adjusted = new Float64Array(count).fill(1);
  let least = 1;
  for (let rank = order.length; rank > 0; rank--) {
    const test = order[rank - 1]!;
    least = Math.min(least, (p[test]! * count) / rank);
    adjusted[test] = least;
  }
  let end = 0;
  return parts.map((part) => {
    end += part.length;
    return adjusted.subarray(end - part.length, end);
  });
}
