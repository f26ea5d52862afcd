-- Feeds: addresses that answer one question without a header, by the right of a key. Only the hash of their token is stored.
-- Instants are microseconds since 1970 (UTC).
create table feeds (
  id text primary key,
  key_id text not null references keys (id) on delete cascade,
  hash text not null unique,
  path text not null,
  created_at integer not null,
  revoked_at integer
) strict;
create index feeds_of_key on feeds (key_id, created_at);
