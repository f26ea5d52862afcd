import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

/** A comparison may cost so many times as much as one range. */
const MAX_RATIO = 2.2;

/** Comparisons with the days just before, against the same requests without, and no response cache. */
export async function measureCompare({ data, options }: Bench): Promise<Outcome> {
  const half = Math.floor(options.days / 2);
  const listHalf = Math.floor(options.listDays / 2);
  const paths: Readonly<Record<string, string>> = {
    [`site, ${half} days`]: `site?period=${half}d`,
    [`keywords, ${half} days`]: `keywords?period=${half}d&limit=5000`,
    'keywords, 28 days': 'keywords?period=28d&limit=5000',
    'keywords by day, 28 days': 'keywords?period=28d&limit=1000&daily=1',
    'breakdowns, 28 days': 'breakdowns?period=28d',
    'queries, a page of 1,000': `queries?period=${listHalf}d`,
    'queries, sorted': `queries?period=${listHalf}d&sort=-impressions`,
  };
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const memory = new PeakMemory(server.pid);
    const outcomes: Outcome[] = [];
    for (const [name, path] of Object.entries(paths)) {
      const one = `/projects/${LARGE}/${path}`;
      const two = `${one}&compare=previous`;
      for (let time = 0; time < options.rounds; time++) {
        await client.time(one);
        await client.time(two);
      }
      const { plain, compared } = await alternate(options.rounds * 3, {
        plain: () => client.time(one),
        compared: () => client.time(two),
      });
      outcomes.push({
        lines: [{ name: `compare: ${name}`, ...compared, baselines: { 'one range': plain.median } }],
        targets: [atMost(`compare: ${name}, against one range`, compared.median / plain.median, MAX_RATIO)],
      });
    }
    client.close();
    const [first, ...rest] = outcomes.flatMap(({ lines }) => lines);
    return {
      lines: [{ ...first!, memory: memoryOf(memory) }, ...rest],
      targets: outcomes.flatMap(({ targets }) => targets),
    };
  });
}
