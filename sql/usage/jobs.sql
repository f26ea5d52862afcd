-- The runs of background jobs.

-- name: runs
-- The current or last run of every background job.
-- rows: job text, startedAt integer, endedAt integer, outcome text, failures integer, error text, result text, progress text,
--   nextAt integer
select job, started_at as startedAt, ended_at as endedAt, outcome, failures, error, result, progress, next_at as nextAt
from job_states

-- name: put_run
-- Stores the current or last run of a background job. $job; $startedAt, $endedAt, $nextAt: microseconds; $outcome,
-- $error, $progress: text or null; $result: JSON or null; $failures: number of failures in a row.
insert into job_states
values ($job, $startedAt, $endedAt, $outcome, $failures, $error, $result, $progress, $nextAt)
on conflict (job) do update set started_at = excluded.started_at, ended_at = excluded.ended_at,
  outcome = excluded.outcome, failures = excluded.failures, error = excluded.error, result = excluded.result,
  progress = excluded.progress, next_at = excluded.next_at

-- name: put_progress
-- Stores the progress of a run, unless it has ended or another has begun. $job, $startedAt (microseconds), $progress.
update job_states set progress = $progress where job = $job and started_at = $startedAt and ended_at is null
