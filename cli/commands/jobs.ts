import type { Command } from 'commander';
import { isoInstantOrNull, toMicroseconds } from '../../server/domain/instants.ts';
import { type JobStatus, readJobStatus } from '../../server/jobs/job-status.ts';
import { printJson, printTable, withStores, withUsage } from '../cli.ts';
import { examples } from '../help.ts';

export function addJobs(program: Command): void {
  const command = program.command('jobs').description('show the background jobs');
  command
    .command('status')
    .description('show what each background job did last and when it runs next')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('jobs status', 'jobs status --json'))
    .action(async ({ json }: { json?: boolean }) => {
      const jobs = await withStores((stores) => withUsage(stores, (usage) => readJobStatus(usage, stores.settings)));
      if (json) printJson(jobs.map((job) => ({ ...job, ...instantsOf(job) })));
      else await printTable(jobs.map(toRow), '');
    });
}

function instantsOf({
  startedAt,
  endedAt,
  nextAt,
}: JobStatus): Record<'startedAt' | 'endedAt' | 'nextAt', string | null> {
  const iso = (at: number | null): string | null => isoInstantOrNull(at === null ? null : toMicroseconds(at));
  return { startedAt: iso(startedAt), endedAt: iso(endedAt), nextAt: iso(nextAt) };
}

function toRow(job: JobStatus): object {
  const { startedAt, nextAt } = instantsOf(job);
  const result = Object.entries(job.result ?? {}).map(([name, value]) => `${name} ${value}`);
  return {
    job: job.job,
    state: job.state,
    started: startedAt,
    progress: job.progress,
    result: result.join(', '),
    failures: job.failures || null,
    error: job.error,
    next: nextAt,
  };
}
