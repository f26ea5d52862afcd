/** One timing, in milliseconds. */
export interface Sample {
  readonly ms: number;
  readonly firstByte?: number;
  readonly bytes?: number;
}

/** A summary of timings, in milliseconds. */
export interface Timing {
  readonly median: number;
  readonly p95: number;
  readonly firstByte?: number;
  readonly bytes?: number;
  readonly samples: number;
}

/**
 * Times the contenders in turn, one of each in every round, so that other load on the machine affects all of them.
 * `warmUp` rounds go first and do not count.
 */
export async function alternate<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<Sample>>>,
  warmUp = Math.min(3, rounds),
): Promise<Record<Name, Timing>> {
  const entries = Object.entries(contenders) as [Name, () => Promise<Sample>][];
  const samples = new Map<Name, Sample[]>(entries.map(([name]) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    // Each goes first in turn, because one that follows a long answer also waits for what the server does after it.
    for (const [name, time] of round % 2 === 0 ? entries : entries.toReversed()) {
      const sample = await time();
      if (round >= 0) samples.get(name)!.push(sample);
    }
  }
  return Object.fromEntries(entries.map(([name]) => [name, summarise(samples.get(name)!)])) as Record<Name, Timing>;
}

/** Times some work. */
export async function timed(work: () => unknown): Promise<Sample> {
  const started = performance.now();
  await work();
  return { ms: performance.now() - started };
}

export function summarise(samples: readonly Sample[]): Timing {
  const times = samples.map(({ ms }) => ms);
  const firstBytes = samples.flatMap(({ firstByte = [] }) => firstByte);
  const bytes = samples.at(-1)?.bytes;
  return {
    median: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    samples: samples.length,
    ...(firstBytes.length > 0 ? { firstByte: quantile(firstBytes, 0.5) } : {}),
    ...(bytes === undefined ? {} : { bytes }),
  };
}

/** The smallest value that is at least as large as this share of all values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
