-- Keys that expire, that may read some projects only, and that were replaced by another; limits of a workspace; and the
-- audit trail. Instants are microseconds since 1970 (UTC); booleans are 0 or 1.
alter table keys add column expires_at integer;
-- 1: the key may read only the projects in key_projects, also when none of them is left.
alter table keys add column limited integer not null default 0 check (limited in (0, 1));
-- The key that replaces this one, which is valid until `expires_at`.
alter table keys add column replaced_by text;

create table key_projects (
  key_id text not null references keys (id) on delete cascade,
  project_id text not null references projects (id) on delete cascade,
  primary key (key_id, project_id)
) strict, without rowid;
create index key_projects_of_project on key_projects (project_id);

-- Requests that each key of the workspace may send in a minute. Null: the default.
alter table workspaces add column requests_per_minute integer check (requests_per_minute >= 1);

-- Who did what. Rows outlive what they are about, so nothing is referenced. `details`: JSON.
create table audit (
  id integer primary key autoincrement,
  at integer not null,
  workspace_id text,
  actor text not null,
  action text not null,
  subject text,
  details text not null
) strict;
create index audit_by_time on audit (at);
create index audit_of_workspace on audit (workspace_id, at);
