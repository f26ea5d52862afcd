-- What loads did, by kind: `snapshot`, `import` or `sync`. `published`, `rejected` and `failed` count loads; `rows` and
-- `seconds` are sums over published ones. The `last_` columns are about the last published one, `last_at` in microseconds.
create table if not exists loads (
  kind text primary key,
  published integer not null default 0,
  rejected integer not null default 0,
  failed integer not null default 0,
  rows integer not null default 0,
  seconds real not null default 0,
  last_at integer,
  last_rows integer,
  last_seconds real
) strict, without rowid
