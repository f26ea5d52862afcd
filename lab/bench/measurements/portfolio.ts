import { globSync } from 'node:fs';
import { addDays } from '../../../server/domain/dates.ts';
import { timeQuery } from '../baselines.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { prepareProjects } from '../data.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate, type Sample, summarise } from '../rounds.ts';
import { LAST_DAY } from '../snapshots.ts';

/** All projects of a workspace, computed for each request, against DuckDB's own query over the same files; and cached. */
export async function measurePortfolio({ engine, options, report }: Bench): Promise<Outcome> {
  const { portfolio: count, days, rounds } = options;
  const data = await prepareProjects(engine, options, { count, keywords: 0, days }, report);
  const files = globSync(`${data.folder}/facts/site_daily/*/*.parquet`);
  const half = Math.floor(days / 2);
  const questions: Readonly<Record<string, { path: string; days: number; compared: boolean }>> = {
    '28 days': { path: '/portfolio', days: 28, compared: false },
    '28 days, compared': { path: '/portfolio?compare=previous', days: 28, compared: true },
    '28 days, compared, with days': { path: '/portfolio?compare=previous&daily=1', days: 28, compared: true },
    [`${half} days, compared`]: { path: `/portfolio?compare=previous&period=${half}d`, days: half, compared: true },
  };
  // Before the other questions: a quick run asks them of the same server.
  const cold: Sample[] = [];
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    await withServer(data, { cache: false }, async (server) => {
      const client = await Client.of(server);
      cold.push(await client.time(`/portfolio?period=${days}d`));
      client.close();
    });
  }
  const outcomes: Outcome[] = [];
  await withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const memory = new PeakMemory(server.pid);
    for (const [name, { path, days: length, compared }] of Object.entries(questions)) {
      const from = addDays(LAST_DAY, 1 - length);
      const range = { from, first: compared ? addDays(from, -length) : from, to: LAST_DAY };
      const { served, duckdb } = await alternate(rounds, {
        served: () => client.time(path),
        duckdb: () => timeQuery(engine, 'site_totals', { files, ...range }),
      });
      const line = { name: `portfolio of ${count}: ${name}`, ...served, baselines: { duckdb: duckdb.median } };
      const target = atMost(`portfolio: ${name}, against DuckDB's own query`, served.median / duckdb.median, 2);
      outcomes.push({ lines: [{ ...line, memory: memoryOf(memory) }], targets: [target] });
    }
    client.close();
  });
  const first = summarise(cold);
  outcomes.push({
    lines: [{ name: `portfolio of ${count}: ${days} days, cold`, ...first, baselines: {} }],
    targets: [atMost(`portfolio: ${days} days, first request of a server`, first.median / 1000, 0.8, 's')],
  });
  await withServer(data, { cache: true }, async (server) => {
    const client = await Client.of(server);
    const path = '/portfolio?compare=previous';
    const { cached, one } = await alternate(rounds * 10, {
      cached: () => client.time(path),
      one: () => client.time('/projects/P0001/site?compare=previous'),
    });
    client.close();
    const line = { name: `portfolio of ${count}: cached`, ...cached, baselines: { 'cached site': one.median } };
    outcomes.push({ lines: [line], targets: [] });
  });
  return {
    lines: outcomes.flatMap(({ lines }) => lines),
    targets: outcomes.flatMap(({ targets }) => targets),
  };
}
