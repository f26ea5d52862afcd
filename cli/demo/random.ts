/** Returns random numbers from `low` up to `high`; the same seed gives the same sequence. */
export type Random = (low: number, high: number) => number;

/** A small seeded generator (mulberry32): `Math.random` cannot be seeded, and the demo must be the same on every machine. */
export function seededRandom(seed: string): Random {
  let state = 2166136261;
  for (const letter of seed) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  return (low, high) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return low + ((high - low) * ((mixed ^ (mixed >>> 14)) >>> 0)) / 4294967296;
  };
}
