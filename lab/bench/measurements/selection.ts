import { globSync, statSync } from 'node:fs';
import { timeQuery } from '../baselines.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

/** A filtered and sorted page of a stored list, another filter each time, against DuckDB's own query over its file. */
export async function measureSelection({ data, engine, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const list = `/projects/${LARGE}/queries?period=${options.listDays}d`;
    // Makes the list; it is the largest file.
    await client.time(list);
    const bySize = globSync(`${data.folder}/lists/*.parquet`).sort((a, b) => statSync(b).size - statSync(a).size);
    const memory = new PeakMemory(server.pid);
    let asked = 0;
    const clicks = (): number => ++asked % 500;
    const filtered = (): string =>
      `filter=${encodeURIComponent(
        JSON.stringify({
          match: 'any',
          conditions: [
            { field: 'query', op: 'contains', value: 'shoe' },
            { field: 'clicks', op: 'gte', value: clicks() },
          ],
        }),
      )}`;
    const { both, filter, duckdb } = await alternate(options.rounds, {
      both: () => client.time(`${list}&${filtered()}&sort=-impressions,query`),
      filter: () => client.time(`${list}&${filtered()}`),
      duckdb: () => timeQuery(engine, 'list_selection', { file: bySize[0]!, clicks: clicks() }),
    });
    client.close();
    return {
      lines: [
        {
          name: `a list of ${options.queries} queries, filtered and sorted`,
          ...both,
          memory: memoryOf(memory),
          baselines: { duckdb: duckdb.median },
        },
        { name: `a list of ${options.queries} queries, filtered`, ...filter, baselines: { duckdb: duckdb.median } },
      ],
      targets: [atMost("filter and sort: against DuckDB's own query", both.median / duckdb.median, 2)],
    };
  });
}
