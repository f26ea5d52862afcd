/**
 * Times contenders in turn, one of each in every round, so that other load of the machine affects all of them. `warmUp`
 * rounds do not count: V8 optimises code only after it has run many times. Returns medians.
 * @param contenders each returns milliseconds
 */
export async function alternate<Name extends string>(
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
  contenders: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const entries = Object.entries(contenders) as [Name, () => Promise<number>][];
  const times = new Map<Name, number[]>(entries.map(([name]) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    // Each goes first in turn: one that follows a long answer also waits for what the server does after it.
    for (const [name, time] of round % 2 === 0 ? entries : entries.toReversed()) {
      const ms = await time();
      if (round >= 0) times.get(name)!.push(ms);
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, median(all)])) as Record<Name, number>;
}

/** Milliseconds that some work takes. */
export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1]!;
}
