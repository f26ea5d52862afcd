import { globSync } from 'node:fs';
import { addDays } from '../../../server/domain/dates.ts';
import type { Engine } from '../../../server/facts/duckdb/engine.ts';
import { answerBaselines, timeQuery, timeRows } from '../baselines.ts';
import type { Bench } from '../bench-context.ts';
import { Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome, type Target } from '../results.ts';
import { alternate, type Sample, timed } from '../rounds.ts';
import { LARGE, LAST_DAY } from '../snapshots.ts';

interface KeywordsAnswer {
  readonly range: { readonly from: string; readonly to: string };
}

/** With this many days less at either end, the range begins and ends within months. */
const INSIDE = 9;

/**
 * Totals of all keywords of the large project over the whole history, over a range that begins and ends within months,
 * and over 28 days, without a response cache.
 */
export async function measureTotals(bench: Bench): Promise<Outcome> {
  const { data, engine, options, peers } = bench;
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const path = (days: number) => `/projects/${LARGE}/keywords?period=${days}d&limit=5000`;
    const body = await client.read(path(options.days));
    const answer = JSON.parse(body.toString()) as KeywordsAnswer;
    const { from, to } = answer.range;
    const parameters = { file: data.plain(LARGE), from, to };
    const inside = { ...parameters, from: addDays(from, INSIDE), to: addDays(to, -INSIDE) };
    const insidePath = `/projects/${LARGE}/keywords?from=${inside.from}&to=${inside.to}&limit=5000`;
    const baselines = await answerBaselines(options.folder, body, answer);
    const others = Object.fromEntries(
      peers.map(({ name, totals }): [string, () => Promise<Sample>] => [name, () => totals(from, to)]),
    );
    const floor = floorOf(engine, data.folder, answer);
    const memory = new PeakMemory(server.pid);
    // Warm up: V8 optimises code only after it has run many times.
    for (let time = 0; time < 3 * options.rounds; time++) {
      await client.time(path(options.days));
      await client.time(insidePath);
      await client.time(path(28));
      await floor();
    }
    const times = await alternate<string>(options.rounds, {
      whole: () => client.time(path(options.days)),
      inside: () => client.time(insidePath),
      month: () => client.time(path(28)),
      duckdb: () => timeQuery(engine, 'keyword_totals', parameters),
      'duckdb inside': () => timeQuery(engine, 'keyword_totals', inside),
      'duckdb rows': () => timeRows(engine, 'keyword_totals', parameters),
      'floor of 28 days': floor,
      stringify: baselines.stringify,
      bare: baselines.bare,
      ...others,
    });
    await baselines.close();
    client.close();

    const { whole, inside: within, month, 'duckdb inside': ofInside, ...rest } = times;
    const medians = Object.fromEntries(Object.entries(rest).map(([name, { median }]) => [name, median]));
    const against = (name: string): number => whole!.median / times[name]!.median;
    const medianOf = (name: string) => (times[name] ? { [name]: times[name].median } : {});
    const targets: Target[] = [
      atMost(`totals: 28 days against ${options.days} days`, month!.median / whole!.median, 1),
      atMost('totals: 28 days against the floor', month!.median / times['floor of 28 days']!.median, 1.6),
      atMost(`totals: ${options.days} days against the floor`, against('floor of 28 days'), 1.6),
      atMost('totals: against the raw DuckDB scan', against('duckdb'), 0.5),
      atMost('totals: against PostgreSQL', times['postgres'] ? against('postgres') : null, 0.1),
      atMost('totals: against ClickHouse', times['clickhouse'] ? against('clickhouse') : null, 0.2),
    ];
    return {
      lines: [
        {
          name: `keywords, ${options.keywords} keywords, ${options.days} days`,
          ...whole!,
          memory: memoryOf(memory),
          baselines: medians,
        },
        {
          name: `keywords, ${options.keywords} keywords, ${options.days - 2 * INSIDE} days, ends within months`,
          ...within!,
          baselines: { duckdb: ofInside!.median, ...medianOf('clickhouse') },
        },
        { name: `keywords, ${options.keywords} keywords, 28 days`, ...month!, baselines: {} },
      ],
      targets,
    };
  });
}

/** The least that totals of 28 days take: two rows of each keyword are read with DuckDB, and the answer is written from memory. */
function floorOf(engine: Engine, folder: string, answer: object): () => Promise<Sample> {
  const reads = [LAST_DAY, addDays(LAST_DAY, -28)].map((day) => {
    const number = Number(day.slice(8));
    return {
      files: globSync(`${folder}/facts/keyword_cumulative/${LARGE}/${day.slice(0, 7)}-*.parquet`),
      clicks: `clicks_${number}`,
      impressions: `impressions_${number}`,
      sumPosition: `sum_position_${number}`,
    };
  });
  return () =>
    timed(async () => {
      await Promise.all(reads.map((read) => engine.numbers('facts/keyword_cumulative', read, () => {})));
      Buffer.from(JSON.stringify(answer));
    });
}
