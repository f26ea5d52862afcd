-- Links that show one project to whoever has them. `token_hash`: SHA-256 of the token in the address, hexadecimal;
-- `password_hash`: scrypt with its salt, null without a password; `screens`: a JSON array. Instants are microseconds.
create table shares (
  id text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  screens text collate "C" not null,
  hide_queries bigint not null,
  token_hash text collate "C" not null unique,
  password_hash text collate "C",
  expires_at bigint,
  created_at bigint not null,
  revoked_at bigint
);
create index shares_of_project on shares (project_id, created_at);
