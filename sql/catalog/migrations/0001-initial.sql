-- The first version of the catalog: entities, access, and which fact files are current.
-- Instants are microseconds since 1970 (UTC); days are YYYY-MM-DD; lists and rules are JSON texts; booleans are 0 or 1.

create table workspaces (
  id text primary key,
  name text not null,
  plan text not null,
  keyword_history_days integer not null check (keyword_history_days >= 1)
) strict;

create table members (
  workspace_id text not null references workspaces (id) on delete cascade,
  email text not null collate nocase,
  role text not null check (role in ('owner', 'admin', 'member')),
  primary key (workspace_id, email)
) strict;

create table keys (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  name text not null,
  prefix text not null,
  hash text not null unique,
  created_at integer not null,
  created_by text,
  last_used_at integer,
  revoked_at integer
) strict;
create index keys_of_workspace on keys (workspace_id, created_at);

create table projects (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  domain text not null,
  property text not null,
  country text,
  language text,
  brand_terms text not null,
  sync_status text not null check (sync_status in ('pending', 'ok', 'warning', 'failed')),
  last_synced_at integer,
  synced_through text,
  provisional_after text,
  history_backfilling integer not null,
  setup_finished integer not null,
  created_at integer not null,
  revision integer not null default 1
) strict;
create index projects_of_workspace on projects (workspace_id, created_at, id);

create table keywords (
  project_id text not null references projects (id) on delete cascade,
  id text not null,
  query text not null,
  source text not null,
  tracked_since integer not null,
  intent text not null,
  archived integer not null,
  primary key (project_id, id)
) strict, without rowid;
create index keywords_by_query on keywords (project_id, query, id) where archived = 0;

create table groups (
  project_id text not null references projects (id) on delete cascade,
  id text not null,
  name text not null,
  kind text not null check (kind in ('folder', 'manual', 'rule')),
  parent_id text,
  position integer not null,
  pinned integer not null,
  rule text,
  primary key (project_id, id)
) strict, without rowid;

create table group_members (
  project_id text not null,
  group_id text not null,
  keyword_id text not null,
  primary key (project_id, group_id, keyword_id),
  foreign key (project_id, group_id) references groups (project_id, id) on delete cascade deferrable initially deferred,
  foreign key (project_id, keyword_id) references keywords (project_id, id) on delete cascade deferrable initially deferred
) strict, without rowid;
create index group_members_of_keyword on group_members (project_id, keyword_id, group_id);

create table page_groups (
  project_id text not null references projects (id) on delete cascade,
  id text not null,
  name text not null,
  position integer not null,
  rule text not null,
  pinned_urls text not null,
  primary key (project_id, id)
) strict, without rowid;

create table alerts (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  type text not null,
  kind text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  title text not null,
  body text not null,
  date text,
  keyword_id text,
  url text,
  created_at integer not null,
  resolved_at integer
) strict;
create index alerts_of_project on alerts (project_id, created_at desc, id);

create table notes (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  project_id text references projects (id) on delete cascade,
  scope text not null check (scope in ('workspace', 'project', 'group', 'keyword', 'page')),
  date text not null,
  end_date text,
  category text not null,
  text text not null,
  client_visible integer not null,
  author text not null,
  group_id text,
  keyword_id text,
  page text,
  created_at integer not null,
  updated_at integer not null
) strict;
create index notes_of_workspace on notes (workspace_id, project_id, date);

-- The manifest: the one Parquet file that is current for each project, fact table and part. A part is a month (YYYY-MM)
-- or, for tables that are kept in one file, 'all'.
create table fact_files (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  part text not null,
  file text not null unique,
  rows integer not null,
  first_day text not null,
  last_day text not null,
  bytes integer not null,
  sha256 text not null,
  primary key (project_id, fact_table, part)
) strict, without rowid;

-- Files that were current until a load replaced them; running requests may still read them for a while.
create table retired_files (
  file text primary key,
  retired_at integer not null
) strict, without rowid;

-- Retires every file that leaves the manifest, also when its project is deleted.
create trigger retire_removed_file after delete on fact_files begin
  insert or replace into retired_files values (old.file, unixepoch() * 1000000);
end;
create trigger retire_replaced_file after update of file on fact_files when old.file <> new.file begin
  insert or replace into retired_files values (old.file, unixepoch() * 1000000);
end;

-- Stored page and query lists.
create table lists (
  project_id text not null references projects (id) on delete cascade,
  kind text not null check (kind in ('pages', 'queries')),
  first_day text not null,
  last_day text not null,
  country text not null,
  revision integer not null,
  file text not null unique,
  rows integer not null,
  bytes integer not null,
  fetched_at integer not null,
  used_at integer not null,
  primary key (project_id, kind, first_day, last_day, country, revision)
) strict, without rowid;
create index lists_by_use on lists (used_at);
