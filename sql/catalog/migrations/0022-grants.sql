-- Grants of accounts to read their properties, which owners gave in the browser, and attempts to get one. Their secrets are
-- encrypted; what a browser brings back is stored as a hash (SHA-256, hexadecimal).
-- Instants are microseconds since 1970 (UTC).

-- `kind`: the provider of accounts; `ends_at`: when the provider ends it, null if it did not say; `lost_at`: when the
-- provider refused it.
create table grants (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  kind text not null,
  client_id text not null,
  connected_by text not null,
  connected_at integer not null,
  ends_at integer,
  lost_at integer,
  refresh_token text not null
) strict, without rowid;
create index grants_by_workspace on grants (workspace_id);

create table connect_attempts (
  state_hash text primary key,
  cookie_hash text not null,
  session_hash text not null references sessions (hash) on delete cascade,
  verifier text not null,
  expires_at integer not null
) strict, without rowid;
create index connect_attempts_by_session on connect_attempts (session_hash);

alter table connections add column grant_id text references grants (id) on delete cascade;
create index connections_by_grant on connections (grant_id);
