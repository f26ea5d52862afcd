-- The last run of each background job, and when its next run is due. Times are microseconds; `ended_at` is null while it
-- runs.
-- `outcome`: succeeded, failed, stopped or interrupted; `result`: JSON.
create table if not exists job_states (
  job text primary key,
  started_at integer not null,
  ended_at integer,
  outcome text,
  failures integer not null,
  error text,
  result text,
  progress text,
  next_at integer not null
) strict, without rowid
