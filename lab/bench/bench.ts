// npm run bench: measures the real server over HTTP, and baselines in the same run. It prints a table, and writes JSON
// with --json. Missed targets do not change the exit status: it only says whether the benchmark could run.
import '../../cli/threads.ts';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fail, print } from '../../cli/cli.ts';
import type { Engine } from '../../server/facts/duckdb/engine.ts';
import { openEngine } from './baselines.ts';
import { type Bench, shareServers, stopShared } from './bench-context.ts';
import { type BenchData, prepareData } from './data.ts';
import { measureClients } from './measurements/clients.ts';
import { measureCommands } from './measurements/commands.ts';
import { measureCompare } from './measurements/compare.ts';
import { measureCompression } from './measurements/compression.ts';
import { measureDaily } from './measurements/daily.ts';
import { measureExports } from './measurements/exports.ts';
import { measureFindings } from './measurements/findings.ts';
import { measureFirst } from './measurements/first.ts';
import { measureLists } from './measurements/lists.ts';
import { measureLoading } from './measurements/loading.ts';
import { measureMetrics } from './measurements/metrics.ts';
import { measurePortfolio } from './measurements/portfolio.ts';
import { measureProjects } from './measurements/projects.ts';
import { measureQuestion } from './measurements/question.ts';
import { measureRepeat } from './measurements/repeat.ts';
import { measureResident } from './measurements/resident.ts';
import { measureScale } from './measurements/scale.ts';
import { measureSelection } from './measurements/selection.ts';
import { measureSite } from './measurements/site.ts';
import { measureTotals } from './measurements/totals.ts';
import { measureUnchanged } from './measurements/unchanged.ts';
import { measureWorkers } from './measurements/workers.ts';
import { type BenchOptions, readOptions } from './options.ts';
import { openClickHouse } from './peers/clickhouse.ts';
import type { Peer } from './peers/peer.ts';
import { openPostgres } from './peers/postgres.ts';
import { tables } from './report.ts';
import type { Outcome } from './results.ts';
import { LARGE } from './snapshots.ts';
import { stampOf } from './stamp.ts';

const MEASUREMENTS: Readonly<Record<string, (bench: Bench) => Promise<Outcome>>> = {
  totals: measureTotals,
  daily: measureDaily,
  repeat: measureRepeat,
  metrics: measureMetrics,
  site: measureSite,
  compare: measureCompare,
  question: measureQuestion,
  first: measureFirst,
  commands: measureCommands,
  lists: measureLists,
  findings: measureFindings,
  selection: measureSelection,
  exports: measureExports,
  unchanged: measureUnchanged,
  compression: measureCompression,
  loading: measureLoading,
  portfolio: measurePortfolio,
  projects: measureProjects,
  clients: measureClients,
  workers: measureWorkers,
  resident: measureResident,
  scale: measureScale,
};

function report(step: string): void {
  process.stderr.write(`${step}\n`);
}

async function openPeers(engine: Engine, options: BenchOptions, data: BenchData): Promise<Peer[]> {
  const { folder, keywords, days } = options;
  const stamp = stampOf({ keywords, days }, ['sql/bench/*.sql', 'lab/bench/snapshots.ts']);
  const source = { folder, file: data.plain(LARGE), stamp, report };
  const peers = [
    options.postgres === undefined ? undefined : await openPostgres(engine, options.postgres, source),
    options.chdb ? await openClickHouse(source) : undefined,
  ];
  return peers.filter((peer) => peer !== undefined);
}

async function measure(options: BenchOptions): Promise<Outcome> {
  mkdirSync(options.folder, { recursive: true });
  if (options.quick) shareServers();
  const engine = await openEngine(options.folder, availableParallelism());
  try {
    const data = await prepareData(engine, options, report);
    const chosen = Object.entries(MEASUREMENTS).filter(([name]) =>
      options.only.length > 0
        ? options.only.includes(name)
        : !['projects', 'scale'].includes(name) || options.scale > 0,
    );
    const peers = chosen.some(([name]) => name === 'totals') ? await openPeers(engine, options, data) : [];
    const outcomes: Outcome[] = [];
    for (const [name, measurement] of chosen) {
      report(`measuring ${name}`);
      try {
        const outcome = await measurement({ options, data, engine, peers, report });
        // A run that is stopped has shown what it measured.
        report(tables(outcome));
        outcomes.push(outcome);
      } catch (error) {
        // The other measurements go on.
        report(`${name} could not be measured:`);
        fail(error);
      }
    }
    for (const peer of peers) await peer.close();
    return { lines: outcomes.flatMap(({ lines }) => lines), targets: outcomes.flatMap(({ targets }) => targets) };
  } finally {
    await stopShared();
    await engine.close();
    rmSync(join(options.folder, 'memory'), { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), Object.keys(MEASUREMENTS));
  const started = new Date();
  const outcome = await measure(options);
  print(tables(outcome));
  if (options.json === undefined) return;
  const machine = {
    processors: availableParallelism(),
    model: cpus()[0]?.model,
    memory: Math.round(totalmem() / 1e6),
    node: process.version,
  };
  // The URL of a database may contain a password.
  const { postgres, ...shown } = options;
  const document = {
    at: started.toISOString(),
    machine,
    options: { ...shown, postgres: postgres !== undefined },
    ...outcome,
  };
  writeFileSync(options.json, `${JSON.stringify(document, null, 2)}\n`);
}

// Only an orderly exit stops the servers that this process started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await main().catch(fail);
// ClickHouse has threads that would keep the process alive.
process.exit();
