-- When each key was last used (microseconds).
create table if not exists key_uses (
  id text primary key,
  used_at integer not null
) strict, without rowid
