-- What owners change in the browser: tags of keywords, brand terms that are whole words, a sync that they ask for, and
-- invitations. Instants are microseconds since 1970 (UTC).

-- JSON arrays of texts; null for none.
alter table keywords add column tags text;
alter table projects add column brand_words text;

-- When somebody last asked for a sync: days that were fetched before are fetched again.
alter table sync_projects add column requested_at integer;

-- `token_hash`: SHA-256 of the secret in the link, hexadecimal. Invitations that were used or revoked are removed.
create table invitations (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  email text collate nocase not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  token_hash text not null unique,
  created_by text not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index invitations_of_workspace on invitations (workspace_id, created_at);
