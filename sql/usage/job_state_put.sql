-- Stores the current or last run of a background job. $job; $startedAt, $endedAt, $nextAt: microseconds; $outcome,
-- $error, $progress: text or null; $result: JSON or null; $failures: number of failures in a row.
insert or replace into job_states
values ($job, $startedAt, $endedAt, $outcome, $failures, $error, $result, $progress, $nextAt)
