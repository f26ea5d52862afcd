-- Grants of accounts to read their properties, which owners gave in the browser, and attempts to get one. Their secrets are
-- encrypted; what a browser brings back is stored as a hash (SHA-256, hexadecimal).
-- Instants are microseconds since 1970 (UTC).

-- `kind`: the provider of accounts; `ends_at`: when the provider ends it, null if it did not say; `lost_at`: when the
-- provider refused it.
create table grants (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  kind text collate "C" not null,
  client_id text collate "C" not null,
  connected_by text collate nocase not null,
  connected_at bigint not null,
  ends_at bigint,
  lost_at bigint,
  refresh_token text collate "C" not null
);
create index grants_by_workspace on grants (workspace_id);

create table connect_attempts (
  state_hash text collate "C" primary key,
  cookie_hash text collate "C" not null,
  session_hash text collate "C" not null references sessions (hash) on delete cascade,
  verifier text collate "C" not null,
  expires_at bigint not null
);
create index connect_attempts_by_session on connect_attempts (session_hash);

alter table connections add column grant_id text collate "C" references grants (id) on delete cascade;
create index connections_by_grant on connections (grant_id);
