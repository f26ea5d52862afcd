-- What owners change in the browser: tags of keywords, brand terms that are whole words, a sync that they ask for, and
-- invitations. Instants are microseconds since 1970 (UTC).

-- JSON arrays of texts; null for none.
alter table keywords add column tags text collate "C";
alter table projects add column brand_words text collate "C";

-- When somebody last asked for a sync: days that were fetched before are fetched again.
alter table sync_projects add column requested_at bigint;

-- `token_hash`: SHA-256 of the secret in the link, hexadecimal. Invitations that were used or revoked are removed.
create table invitations (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  email text collate nocase not null,
  role text collate "C" not null check (role in ('owner', 'admin', 'member')),
  token_hash text collate "C" not null unique,
  created_by text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index invitations_of_workspace on invitations (workspace_id, created_at);
