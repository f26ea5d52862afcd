-- How many requests were sent with each key on each day (UTC), and the last of them (microseconds).
create table if not exists key_days (
  id text not null,
  day text not null,
  requests integer not null,
  last_at integer not null,
  primary key (id, day)
) strict, without rowid
