-- The last successful backup of this data folder, for metrics. Instants are microseconds since 1970 (UTC).
create table last_backup (
  only integer primary key check (only = 1),
  target text not null,
  started_at integer not null,
  finished_at integer not null,
  files integer not null,
  bytes integer not null,
  copied_bytes integer not null
) strict;
