import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { namesOf } from '../../cli/names.ts';

/** How much data is generated. The data is reused while these stay the same. */
interface Sizes {
  /** Keywords of the large project. */
  readonly keywords: number;
  /** Keywords of the middle project. */
  readonly middleKeywords: number;
  /** Keywords of each small project. */
  readonly smallKeywords: number;
  /** Days of keyword and site facts. */
  readonly days: number;
  readonly queries: number;
  readonly pages: number;
  /** Days of query and page facts. */
  readonly listDays: number;
  /** Workspaces with a small project each; their keys limit the requests per minute. */
  readonly workspaces: number;
  /** Keys of each workspace; the service allows 20. */
  readonly keys: number;
  /** Projects of the workspace whose portfolio is measured. */
  readonly portfolio: number;
}

/** How long to measure. */
interface Effort {
  /** How many times each compared thing is measured, in turn. */
  readonly rounds: number;
  /** Requests of one burst of many connections. */
  readonly burst: number;
  /** Seconds of heavy load. */
  readonly seconds: number;
  /** Questions before the memory of a server is read. */
  readonly questions: number;
  /** Seconds until the memory of a server that was not asked anything is read: what follows its start has ended by then. */
  readonly idle: number;
}

export interface BenchOptions extends Sizes, Effort {
  readonly folder: string;
  /** Whether measurements share servers. */
  readonly quick: boolean;
  readonly only: readonly string[];
  /** Number of projects to compare with a single project; 0 skips the comparison. */
  readonly scale: number;
  readonly scaleKeywords: number;
  readonly scaleDays: number;
  readonly json?: string;
  readonly postgres?: string;
  readonly chdb: boolean;
}

const DEFAULTS: Sizes & Effort = {
  keywords: 5000,
  middleKeywords: 1000,
  smallKeywords: 100,
  days: 486,
  queries: 100_000,
  pages: 30_000,
  listDays: 28,
  workspaces: 20,
  keys: 20,
  portfolio: 1000,
  rounds: 15,
  burst: 3900,
  seconds: 20,
  questions: 10_000,
  idle: 25,
};

const QUICK: typeof DEFAULTS = {
  keywords: 60,
  middleKeywords: 20,
  smallKeywords: 10,
  days: 70,
  queries: 300,
  pages: 100,
  listDays: 7,
  workspaces: 1,
  keys: 20,
  portfolio: 5,
  rounds: 2,
  burst: 20,
  seconds: 1,
  questions: 100,
  idle: 1,
};

const HELP: Readonly<Record<keyof typeof DEFAULTS, string>> = {
  keywords: 'keywords of the large project',
  middleKeywords: 'keywords of the middle project',
  smallKeywords: 'keywords of each small project',
  days: 'days of keyword and site facts, at most 486',
  queries: 'queries of the large project',
  pages: 'pages of the large project',
  listDays: 'days of query and page facts',
  workspaces: 'workspaces with a small project each, for bursts of requests',
  portfolio: 'projects of the workspace whose portfolio is measured',
  keys: 'keys of each workspace, at most 20',
  rounds: 'times that each compared thing is measured',
  burst: 'requests of one burst',
  seconds: 'seconds of heavy load',
  questions: 'questions before the memory of a server is read',
  idle: 'seconds until the memory of an idle server is read',
};

/** Reads the command line. For --help or wrong options, prints help or an error and ends the process. */
export function readOptions(args: readonly string[], measurements: readonly string[]): BenchOptions {
  const command = new Command('bench')
    .description('Measures the server over HTTP and, in the same run, baselines to compare it with.')
    .option('--folder <folder>', 'where the data is generated and reused [data/bench; data/bench-quick with --quick]')
    .option('--only <names>', `comma-separated: ${measurements.join(', ')}`, namesOf(measurements))
    .option('--quick', 'small sizes, few rounds and shared servers, to see that it works')
    .option('--full', 'heavy load for a minute')
    .option('--scale [projects]', 'compare a data folder of many projects (1000) with one of a single project', count)
    .option('--scale-keywords <n>', 'keywords of each of these projects', count, 20)
    .option('--scale-days <n>', 'days of each of these projects', count, 28)
    .option('--json <file>', 'write the results as JSON as well')
    .option('--postgres <url>', 'compare with a PostgreSQL database; the benchmark creates a table in it')
    .option('--chdb', 'compare with ClickHouse (the npm package chdb)');
  for (const [name, help] of Object.entries(HELP)) {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    command.option(`--${flag} <n>`, `${help} [${DEFAULTS[name as keyof typeof DEFAULTS]}]`, count);
  }
  command.parse(args, { from: 'user' });
  type Flags = Partial<typeof DEFAULTS> & {
    folder?: string;
    only?: readonly string[];
    quick?: true;
    full?: true;
    scale?: number | true;
    scaleKeywords: number;
    scaleDays: number;
    json?: string;
    postgres?: string;
    chdb?: true;
  };
  const {
    quick = false,
    full,
    scale,
    only = [],
    chdb,
    folder = quick ? 'data/bench-quick' : 'data/bench',
    ...flags
  } = command.opts<Flags>();
  const projects =
    scale === true || (scale === undefined && (only.includes('projects') || only.includes('scale')))
      ? 1000
      : (scale ?? 0);
  return {
    ...(quick ? QUICK : DEFAULTS),
    ...(full ? { seconds: 60 } : {}),
    ...flags,
    folder: resolve(folder),
    quick,
    only,
    scale: projects,
    chdb: chdb === true,
  };
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
