import { readdirSync, readFileSync } from 'node:fs';
import { median, sum } from '../../../server/alerts/statistics.ts';

/** What processes used at one moment. */
export interface Sample {
  /** Minutes since the start. */
  readonly at: number;
  /** Resident memory of the server, in megabytes; with several server processes, their sum. */
  readonly server: number;
  readonly jobs: number;
  /** Open descriptors of the server. */
  readonly descriptors: number;
}

/** Looks at the processes of a server every second. Needs /proc. */
export class Watch {
  readonly samples: Sample[] = [];
  readonly #pid: number;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), 1000);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    try {
      const servers = serverProcesses(this.#pid);
      const jobs = treeOf(this.#pid).filter((pid) => !servers.includes(pid));
      this.samples.push({
        at: (performance.now() - this.#started) / 60_000,
        server: sum(servers.map(memoryOf)),
        jobs: sum(jobs.map(memoryOf)),
        descriptors: sum(servers.map((pid) => readdirSync(`/proc/${pid}/fd`).length)),
      });
    } catch {
      // A process ended while it was looked at.
    }
  }
}

export interface Trend {
  /** Change in a minute, by least squares over all samples after the warm-up. */
  readonly slope: number;
  readonly first: number;
  readonly last: number;
  readonly peak: number;
}

/** The trend of a value after the first third of the time, which is the warm-up. `first` and `last`: medians of a quarter. */
export function trend(samples: readonly Sample[], of: 'server' | 'jobs' | 'descriptors'): Trend {
  const end = samples.at(-1)?.at ?? 0;
  const warm = samples.filter(({ at }) => at >= end / 3);
  const values = warm.map((sample) => sample[of]);
  const [meanAt, mean] = [sum(warm.map(({ at }) => at)) / warm.length, sum(values) / warm.length];
  const spread = sum(warm.map(({ at }) => (at - meanAt) ** 2));
  const slope = sum(warm.map((sample) => (sample.at - meanAt) * (sample[of] - mean))) / spread;
  const quarter = Math.ceil(values.length / 4);
  return {
    slope: spread === 0 ? 0 : slope,
    first: median(values.slice(0, quarter)),
    last: median(values.slice(-quarter)),
    peak: Math.max(0, ...samples.map((sample) => sample[of])),
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

/** Megabytes; a process that is ending has none. */
function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
}
