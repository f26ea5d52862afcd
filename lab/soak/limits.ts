import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, sum } from '../../server/alerts/calendar.ts';
import { FileLock } from '../../server/runtime/file-lock.ts';

/** What a soak found. */
export interface Found {
  readonly minutes: number;
  readonly unexpected: number;
  /** Kinds of requests and works that were never as they must be. */
  readonly never: readonly string[];
  readonly samples: readonly Sample[];
  readonly leftovers: readonly string[];
  /** Lines of the server's log at the levels error and fatal. */
  readonly errors: readonly string[];
  /** Commands that must succeed in the end, and do not. */
  readonly failed: readonly string[];
}

export interface Limit {
  readonly what: string;
  readonly found: string;
  readonly limit: string;
  /** Null: the soak was too short to say. */
  readonly met: boolean | null;
}

/** A trend over less time says nothing about a leak. */
const MIN_MINUTES = 5;

export function limitsOf({ minutes, unexpected, never, samples, leftovers, errors, failed }: Found): Limit[] {
  const none = (what: string, list: readonly string[]): Limit => ({
    what,
    found: list.slice(0, 5).join(', ').slice(0, 500) || 'none',
    limit: 'none',
    met: list.length === 0,
  });
  const isLong = minutes >= MIN_MINUTES;
  const [memory, descriptors] = [trend(samples, 'memory'), trend(samples, 'descriptors')];
  return [
    { what: 'unexpected answers and failed works', found: String(unexpected), limit: '0', met: unexpected === 0 },
    none('kinds without a right answer', never),
    none('errors in the log of the server', errors),
    none('files and locks left', leftovers),
    none('commands that fail in the end', failed),
    {
      what: 'memory of the server after the warm-up',
      found: `${memory.slope.toFixed(2)} MB a minute; ${memory.first.toFixed(0)} to ${memory.last.toFixed(0)} MB`,
      limit: 'below 1 MB a minute',
      met: isLong ? memory.slope < 1 : null,
    },
    {
      what: 'descriptors of the server after the warm-up',
      found: `${descriptors.first} to ${descriptors.last}`,
      // Connections come and go.
      limit: 'at most 10 more',
      met: isLong ? descriptors.last - descriptors.first <= 10 : null,
    },
  ];
}

/**
 * What a stopped server should not leave. Files that loads replaced stay for an hour, and those of lists until the next
 * sweep; `verify` finds fact files that nothing knows. Lock files stay: what counts is that nobody holds them.
 */
export function findLeftovers(dataFolder: string, backups: string): string[] {
  const held = globSync('leases/*.lock', { cwd: dataFolder }).filter((name) => {
    const taken = FileLock.take(join(dataFolder, name));
    taken?.release();
    return taken === undefined;
  });
  const temporary = ['staging', 'temporary'].map((name) => join(dataFolder, name)).filter((path) => existsSync(path));
  return [
    ...held,
    ...temporary.flatMap((path) => readdirSync(path)),
    ...globSync('{facts,lists}/**/*.{tmp,partial,pending.ndjson}', { cwd: dataFolder }),
    ...globSync('unfinished/*', { cwd: backups }),
  ];
}

export function errorLines(log: string): string[] {
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.filter((line) => /^\{"level":(5|6)0,/.test(line));
}

/** What the processes of a server used, in megabytes and open descriptors, so many minutes after the start. */
export interface Sample {
  readonly at: number;
  readonly memory: number;
  readonly descriptors: number;
}

/** Looks at a server every second. Needs /proc. Returns what ends it. */
export function watch(pid: number): () => readonly Sample[] {
  const samples: Sample[] = [];
  const started = performance.now();
  const timer = setInterval(() => {
    try {
      const servers = serverProcesses(pid);
      const memory = sum(servers.map(memoryOf));
      const descriptors = sum(servers.map((one) => readdirSync(`/proc/${one}/fd`).length));
      samples.push({ at: (performance.now() - started) / 60_000, memory, descriptors });
    } catch {
      // A process ended while it was looked at.
    }
  }, 1000);
  return () => {
    clearInterval(timer);
    return samples;
  };
}

export interface Trend {
  /** Change in a minute, by least squares over all samples after the warm-up. */
  readonly slope: number;
  /** Medians of a quarter. */
  readonly first: number;
  readonly last: number;
}

/** The trend of a value after the first third of the time, which is the warm-up. */
export function trend(samples: readonly Sample[], of: 'memory' | 'descriptors'): Trend {
  const warm = samples.filter(({ at }) => at >= (samples.at(-1)?.at ?? 0) / 3);
  const values = warm.map((sample) => sample[of]);
  const [meanAt, mean] = [sum(warm.map(({ at }) => at)) / warm.length, sum(values) / warm.length];
  const spread = sum(warm.map(({ at }) => (at - meanAt) ** 2));
  const slope = sum(warm.map((sample) => (sample.at - meanAt) * (sample[of] - mean))) / spread;
  const quarter = Math.ceil(values.length / 4);
  return {
    slope: spread > 0 ? slope : 0,
    first: median(values.slice(0, quarter)),
    last: median(values.slice(-quarter)),
  };
}

/** The processes of a server but that of background jobs, the first one first. */
export function serverProcesses(pid: number): number[] {
  return treeOf(pid).filter((one) => !readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('worker.'));
}

function treeOf(pid: number): number[] {
  const lists = readdirSync(`/proc/${pid}/task`).map((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'),
  );
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  return [pid, ...children.flatMap(treeOf)];
}

/** A process that is ending has none. */
function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
}
