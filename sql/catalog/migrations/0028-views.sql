-- Views of a project that members have named, for all of the workspace. `address`: the screen and its parameters, below the
-- address of the project. Tags of projects, and the projects that a member has marked. Instants are microseconds.
create table saved_views (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  address text not null,
  author text not null,
  created_at integer not null
) strict, without rowid;
create unique index saved_views_by_name on saved_views (project_id, name);
create table project_tags (
  project_id text not null references projects (id) on delete cascade,
  tag text not null,
  primary key (project_id, tag)
) strict, without rowid;
create table favourites (
  project_id text not null references projects (id) on delete cascade,
  email text not null,
  primary key (project_id, email)
) strict, without rowid;
