import { globSync } from 'node:fs';
import { join } from 'node:path';
import { addDays } from '../../../server/domain/dates.ts';
import { timeQuery } from '../baselines.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LAST_DAY, MIDDLE } from '../snapshots.ts';

/** How many times as long an answer may take as DuckDB's own `copy` of the same rows. */
const MAX_RATIOS = { csv: 2, ndjson: 2, arrow: 1.5, parquet: 1.3 } as const;
type Format = keyof typeof MAX_RATIOS;
/** DuckDB writes no Arrow: its Parquet is the closest to it. */
const COPIES: Readonly<Record<Format, string>> = { csv: 'csv', ndjson: 'json', arrow: 'parquet', parquet: 'parquet' };

/** Days of all keywords of the middle project as flat rows, against DuckDB's own copy of the same rows to a file. */
export async function measureExports({ data, engine, options }: Bench): Promise<Outcome> {
  const { days, folder } = options;
  const range = { from: addDays(LAST_DAY, 1 - days), to: LAST_DAY };
  const rows = {
    ...range,
    project: MIDDLE,
    files: globSync(`${data.folder}/facts/keyword_all/${MIDDLE}/*.parquet`),
    keywords: join(folder, 'snapshots/others/keywords.parquet'),
  };
  const outcomes: Outcome[] = [];
  for (const [format, bound] of Object.entries(MAX_RATIOS) as [Format, number][]) {
    // A new server each, so that its memory is that of one format.
    const outcome = await withServer(data, { cache: false }, async (server) => {
      const client = await Client.of(server);
      const path = `/projects/${MIDDLE}/keywords.${format}?from=${range.from}&to=${range.to}&daily=1`;
      // Memory that any answer needs does not count as growth.
      await client.read(`/projects/${MIDDLE}/keywords.${format}?limit=10`);
      const memory = new PeakMemory(server.pid);
      const { served, copy } = await alternate(options.rounds, {
        served: () => client.time(path),
        copy: () => timeQuery(engine, `copy_${COPIES[format]}`, { ...rows, target: join(folder, `copy.${format}`) }),
      });
      client.close();
      const { growth } = memory.look();
      const name = `${format}, ${options.middleKeywords} keywords × ${days} days`;
      return {
        lines: [{ name, ...served, memory: memoryOf(memory), baselines: { 'duckdb copy': copy.median } }],
        targets: [
          atMost(`${format}: against DuckDB's copy of the same rows`, served.median / copy.median, bound),
          atMost(`${format}: memory`, growth, 100, 'MB'),
          atMost(`${format}: first byte, part of the time`, served.firstByte! / served.median, 0.25, 'of the time'),
        ],
      };
    });
    outcomes.push(outcome);
  }
  return {
    lines: outcomes.flatMap(({ lines }) => lines),
    targets: outcomes.flatMap(({ targets }) => targets),
  };
}
