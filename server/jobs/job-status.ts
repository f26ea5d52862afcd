import type { CatalogLocation } from '../catalog/location.ts';
import { openLeases } from '../catalog/open-leases.ts';
import { seatName, type Usage } from '../catalog/usage.ts';
import type { Job, JobResult } from './job.ts';
import { JobStates, type Outcome } from './job-states.ts';
import { JOBS } from './jobs.ts';

/** The status of a background job for operators. Times in milliseconds. */
export interface JobStatus {
  /** See `seatName`. */
  readonly job: string;
  /** `waiting` if it has never run, `running`, or the outcome of the last run. */
  readonly state: 'waiting' | 'running' | Outcome;
  readonly everySeconds: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly progress: string | null;
  readonly result: JobResult | null;
  readonly failures: number;
  readonly error: string | null;
  /** Null while it runs. In the past: no process of background jobs is running. */
  readonly nextAt: number | null;
}

/** All jobs of this version, in order; one that several processes are running once for each of them. */
export async function readJobStatus(usage: Usage, location: CatalogLocation): Promise<JobStatus[]> {
  const states = new JobStates(usage);
  const all = new Map((await states.all()).map((state) => [state.job, state]));
  const leases = openLeases(location);
  const statusOf = async ({ every }: Job, job: string): Promise<JobStatus> => {
    const everySeconds = every / 1000;
    const read = all.get(job);
    if (read === undefined) return { ...NEVER_RUN, job, everySeconds };
    // A killed process leaves its state unchanged but loses its lease. A run that has just ended has stored its state before.
    const lease = read.endedAt === null ? await leases.acquire(job) : undefined;
    let found = read;
    try {
      if (lease !== undefined) found = (await states.read(job)) ?? read;
    } finally {
      await lease?.release();
    }
    const { startedAt, endedAt, progress, result, failures, error, nextAt } = found;
    const common = { job, everySeconds, startedAt, endedAt, result, failures, error };
    if (endedAt !== null) return { ...common, state: found.outcome ?? 'interrupted', progress: null, nextAt };
    return { ...common, state: lease === undefined ? 'running' : 'interrupted', progress, nextAt: null };
  };
  const ofJob = async (job: Job): Promise<JobStatus[]> => {
    const others = Array.from({ length: (job.processes ?? 1) - 1 }, (_, index) => seatName(job.name, index + 2));
    const unended = others.filter((seat) => all.get(seat)?.endedAt === null);
    const [first, ...rest] = await Promise.all([job.name, ...unended].map((seat) => statusOf(job, seat)));
    return [first!, ...rest.filter(({ state }) => state === 'running')];
  };
  return (await Promise.all(JOBS.map(ofJob))).flat();
}

const NEVER_RUN = {
  state: 'waiting',
  startedAt: null,
  endedAt: null,
  progress: null,
  result: null,
  failures: 0,
  error: null,
  nextAt: null,
} as const;
