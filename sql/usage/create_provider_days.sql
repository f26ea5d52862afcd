-- The requests that all processes sent to providers on the last day of each owner, for limits by day.
create table if not exists provider_days (
  owner text primary key,
  day text not null,
  requests integer not null
) strict, without rowid
