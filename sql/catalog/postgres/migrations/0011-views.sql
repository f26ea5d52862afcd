-- Views of a project that members have named, for all of the workspace. `address`: the screen and its parameters, below the
-- address of the project. Tags of projects, and the projects that a member has marked. Instants are microseconds.
create table saved_views (
  id text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  name text collate "C" not null,
  address text collate "C" not null,
  author text collate "C" not null,
  created_at bigint not null
);
create unique index saved_views_by_name on saved_views (project_id, name);
create table project_tags (
  project_id text collate "C" not null references projects (id) on delete cascade,
  tag text collate "C" not null,
  primary key (project_id, tag)
);
create table favourites (
  project_id text collate "C" not null references projects (id) on delete cascade,
  email text collate "C" not null,
  primary key (project_id, email)
);
