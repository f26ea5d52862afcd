-- The current or last run of every background job.
select job, started_at as startedAt, ended_at as endedAt, outcome, failures, error, result, progress, next_at as nextAt
from job_states
