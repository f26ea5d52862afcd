-- Stores the progress of a run, unless it has ended or another has begun. $job, $startedAt (microseconds), $progress.
update job_states set progress = $progress where job = $job and started_at = $startedAt and ended_at is null
