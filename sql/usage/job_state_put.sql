-- Stores the current or last run of a background job. $job; $startedAt, $endedAt, $nextAt: microseconds; $outcome,
-- $error, $progress: text or null; $result: JSON or null; $failures: number of failures in a row.
insert into job_states
values ($job, $startedAt, $endedAt, $outcome, $failures, $error, $result, $progress, $nextAt)
on conflict (job) do update set started_at = excluded.started_at, ended_at = excluded.ended_at,
  outcome = excluded.outcome, failures = excluded.failures, error = excluded.error, result = excluded.result,
  progress = excluded.progress, next_at = excluded.next_at
