import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { Engine } from '../../../server/facts/duckdb/engine.ts';
import { loadSnapshot } from '../../../server/load/load.ts';
import { loadFolders } from '../../../server/load/stores.ts';
import { readSettings } from '../../../server/settings/settings.ts';
import type { Bench } from '../bench-context.ts';
import { load } from '../ordinate.ts';
import { atLeast, atMost, type Line, type Outcome } from '../results.ts';
import { alternate, type Sample, summarise, timed } from '../rounds.ts';
import { equalPlans, makeTexts, plans, writeEntities, writeFacts } from '../snapshots.ts';

/** Of the keywords of the large project, this share is loaded in an order that nothing knows. */
const SHUFFLED = 0.6;

/** Loads of the large project into an empty folder, against DuckDB's own sorted COPY of the same rows; and a small load. */
export async function measureLoading(bench: Bench): Promise<Outcome> {
  const { data, engine, options } = bench;
  const rows = options.keywords * options.days * 3;
  const ordered = await against(bench, data.largeSnapshot, rows, `load of ${rows.toLocaleString('en')} rows`);

  const shuffled = join(options.folder, 'shuffled');
  mkdirSync(shuffled, { recursive: true });
  const keywords = Math.round(options.keywords * SHUFFLED);
  {
    using session = await engine.session();
    const below = String(keywords).padStart(5, '0');
    const source = join(data.largeSnapshot, 'keyword_daily.parquet');
    await session.runFile('bench/shuffled', { source, below, target: join(shuffled, 'keyword_daily.parquet') });
    await makeTexts(session, [plans(options).large]);
    await writeEntities(session, shuffled, [{ ...plans(options).large, keywords }]);
  }
  const count = keywords * options.days * 3;
  const mixed = await against(bench, shuffled, count, `load of ${count.toLocaleString('en')} shuffled rows`);
  rmSync(shuffled, { recursive: true, force: true });

  const small = await measureSmall(bench);
  return {
    lines: [ordered.line, mixed.line, small],
    targets: [
      atLeast("loading: rows a second against DuckDB's sorted COPY", 1 / ordered.ratio, 0.5),
      atMost("loading: shuffled rows against DuckDB's sorted COPY", mixed.ratio, 2.2),
      atMost('loading: a project with one day, in a process that runs', small.median, 90, 'ms'),
    ],
  };
}

/** A load, process start included, and DuckDB's sorted copy of its rows, in turn. */
async function against(
  { engine, options }: Bench,
  snapshot: string,
  rows: number,
  name: string,
): Promise<{ readonly line: Line; readonly ratio: number }> {
  const folder = join(options.folder, 'loading');
  const source = join(snapshot, 'keyword_daily.parquet');
  const target = join(options.folder, 'sorted-copy.parquet');
  let peak: number | null = null;
  const { loaded, copied } = await alternate(
    Math.min(options.rounds, 3),
    {
      loaded: async () => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        const result = await load(folder, snapshot);
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
  const line = {
    name,
    ...loaded,
    rowsPerSecond: (rows / loaded.median) * 1000,
    memory: { peak, growth: null },
    baselines: { 'sorted COPY': copied.median },
  };
  return { line, ratio: loaded.median / copied.median };
}

/** Loads of one project with one day each, into the same folder, by a process whose engine is open. */
async function measureSmall({ options }: Bench): Promise<Line> {
  const folder = join(options.folder, 'small');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const settings = readSettings({ ORDINATE_DATA: join(folder, 'data') });
  await using catalog = await openCatalog(settings);
  const opened = await Engine.open({
    memoryLimit: settings.memoryLimit,
    threads: settings.threads,
    temporaryFolder: join(folder, 'memory'),
    folders: [folder, ...loadFolders(settings)],
  });
  const samples: Sample[] = [];
  try {
    const all = equalPlans(options.rounds + 3, 10, 1);
    for (const [index, plan] of all.entries()) {
      const snapshot = join(folder, plan.id);
      {
        using session = await opened.session();
        await makeTexts(session, [plan]);
        await writeEntities(session, snapshot, [plan]);
        await writeFacts(session, snapshot, 'keyword_daily', [plan]);
        await writeFacts(session, snapshot, 'site_daily', [plan]);
      }
      const sample = await timed(() =>
        loadSnapshot({ settings, catalog }, { folder: snapshot, engine: async () => opened }),
      );
      if (index >= 3) samples.push(sample);
    }
  } finally {
    await opened.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { name: 'load of a project with 10 keywords and one day', ...summarise(samples), baselines: {} };
}
