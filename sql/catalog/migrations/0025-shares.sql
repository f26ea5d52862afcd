-- Links that show one project to whoever has them. `token_hash`: SHA-256 of the token in the address, hexadecimal;
-- `password_hash`: scrypt with its salt, null without a password; `screens`: a JSON array. Instants are microseconds.
create table shares (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  screens text not null,
  hide_queries integer not null,
  token_hash text not null unique,
  password_hash text,
  expires_at integer,
  created_at integer not null,
  revoked_at integer
) strict, without rowid;
create index shares_of_project on shares (project_id, created_at);
