import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench-context.ts';
import { load } from '../ordinate.ts';
import { atLeast, type Outcome } from '../results.ts';
import { alternate, timed } from '../rounds.ts';

/** Loading the large project into an empty folder, compared with DuckDB's own sorted COPY of the same rows. */
export async function measureLoading({ data, engine, options }: Bench): Promise<Outcome> {
  const folder = join(options.folder, 'loading');
  const source = join(data.largeSnapshot, 'keyword_daily.parquet');
  const target = join(options.folder, 'sorted-copy.parquet');
  let peak: number | null = null;
  const { loaded, copied } = await alternate(
    Math.min(options.rounds, 3),
    {
      loaded: async () => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        const result = await load(folder, data.largeSnapshot);
        peak = Math.max(peak ?? 0, result.peak ?? 0) || null;
        return { ms: result.seconds * 1000 };
      },
      copied: async () => {
        using session = await engine.session();
        return await timed(() => session.runFile('bench/sorted_copy', { source, target }));
      },
    },
    Math.min(1, options.rounds - 1),
  );
  rmSync(folder, { recursive: true, force: true });
  rmSync(target, { force: true });
  const rows = options.keywords * options.days * 3;
  const perSecond = (rows / loaded.median) * 1000;
  const baseline = (rows / copied.median) * 1000;
  return {
    lines: [
      {
        name: `load of ${rows.toLocaleString('en')} rows`,
        ...loaded,
        rowsPerSecond: perSecond,
        memory: { peak, growth: null },
        baselines: { 'sorted COPY': copied.median },
      },
    ],
    targets: [atLeast("loading: rows a second against DuckDB's sorted COPY", perSecond / baseline, 0.5)],
  };
}
