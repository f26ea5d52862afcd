-- Sessions of the dashboard, and the one-time links that begin them. Of their secrets only hashes are stored (SHA-256,
-- hexadecimal). Each belongs to an API key, or to a member of the workspace by email address.
-- Instants are microseconds since 1970 (UTC).

create table sessions (
  hash text primary key,
  id text not null,
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text references keys (id) on delete cascade,
  email text,
  created_at integer not null,
  expires_at integer not null,
  check ((key_id is null) <> (email is null))
) strict, without rowid;
create index sessions_by_end on sessions (expires_at);

create table login_links (
  hash text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text references keys (id) on delete cascade,
  email text,
  expires_at integer not null,
  check ((key_id is null) <> (email is null))
) strict, without rowid;
