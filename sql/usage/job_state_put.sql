-- Stores what a background job does or did last. $job; $startedAt, $endedAt, $nextAt: microseconds; $outcome, $error,
-- $progress: text or null; $result: JSON or null; $failures: in a row.
insert or replace into job_states
values ($job, $startedAt, $endedAt, $outcome, $failures, $error, $result, $progress, $nextAt)
