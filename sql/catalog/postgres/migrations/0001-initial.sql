-- The catalog and the usage database of one or more machines. Text compares by bytes, as in SQLite; flags are 0 or 1; days are
-- text; instants are microseconds.
create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- A JSON list of texts, as SQLite has it.
create function json_list(texts text[]) returns text language sql immutable as $$ select to_json(texts)::text $$;
create aggregate json_group_array(text) (sfunc = array_append, stype = text[], initcond = '{}', finalfunc = json_list);

-- Raised at the end of each transaction that changes the catalog. `schema`: the number of migrations. Most of the page stays
-- free, so that new versions of the row need no other page.
create table catalog_version (
  "only" bigint primary key check ("only" = 1),
  value bigint not null,
  schema bigint not null
) with (fillfactor = 10);
insert into catalog_version values (1, 0, 0);

create table workspaces (
  id text collate "C" primary key,
  name text collate "C" not null,
  plan text collate "C" not null,
  keyword_history_days bigint not null check (keyword_history_days >= 1),
  requests_per_minute bigint check (requests_per_minute >= 1),
  keep_days bigint
);

create table members (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  email text collate nocase not null,
  role text collate "C" not null check (role in ('owner', 'admin', 'member')),
  primary key (workspace_id, email)
);

create table projects (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  domain text collate "C" not null,
  property text collate "C" not null,
  country text collate "C",
  language text collate "C",
  brand_terms text collate "C" not null,
  sync_status text collate "C" not null check (sync_status in ('pending', 'ok', 'warning', 'failed')),
  last_synced_at bigint,
  synced_through text collate "C",
  provisional_after text collate "C",
  history_backfilling bigint not null,
  setup_finished bigint not null,
  created_at bigint not null,
  facts_revision bigint not null default 1,
  entities_revision bigint not null default 0,
  tracked_keywords bigint not null default 0,
  files_since bigint not null default 0
);
create index projects_of_workspace on projects (workspace_id, created_at, id);

create table keys (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  name text collate "C" not null,
  prefix text collate "C" not null,
  hash text collate "C" not null unique,
  created_at bigint not null,
  created_by text collate "C",
  last_used_before bigint,
  revoked_at bigint,
  expires_at bigint,
  limited bigint not null default 0 check (limited in (0, 1)),
  replaced_by text collate "C"
);
create index keys_of_workspace on keys (workspace_id, created_at);

create table key_projects (
  key_id text collate "C" not null references keys (id) on delete cascade,
  project_id text collate "C" not null references projects (id) on delete cascade,
  primary key (key_id, project_id)
);
create index key_projects_of_project on key_projects (project_id);

create table feeds (
  id text collate "C" primary key,
  key_id text collate "C" not null references keys (id) on delete cascade,
  hash text collate "C" not null unique,
  path text collate "C" not null,
  created_at bigint not null,
  revoked_at bigint
);
create index feeds_of_key on feeds (key_id, created_at);

create table login_links (
  hash text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  key_id text collate "C" references keys (id) on delete cascade,
  email text collate nocase,
  expires_at bigint not null,
  check ((key_id is null) <> (email is null))
);
create index login_links_of_workspace on login_links (workspace_id);
create index login_links_of_key on login_links (key_id);

create table sessions (
  hash text collate "C" primary key,
  id text collate "C" not null,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  key_id text collate "C" references keys (id) on delete cascade,
  email text collate nocase,
  created_at bigint not null,
  expires_at bigint not null,
  check ((key_id is null) <> (email is null))
);
create index sessions_by_end on sessions (expires_at);
create index sessions_of_workspace on sessions (workspace_id);
create index sessions_of_key on sessions (key_id);

create table keywords (
  project_id text collate "C" not null references projects (id) on delete cascade,
  id text collate "C" not null,
  query text collate "C" not null,
  source text collate "C" not null,
  tracked_since bigint not null,
  intent text collate "C" not null,
  archived bigint not null,
  target_url text collate "C",
  primary key (project_id, id)
);

create table groups (
  project_id text collate "C" not null references projects (id) on delete cascade,
  id text collate "C" not null,
  name text collate "C" not null,
  kind text collate "C" not null check (kind in ('folder', 'manual', 'rule')),
  parent_id text collate "C",
  position bigint not null,
  pinned bigint not null,
  rule text collate "C",
  primary key (project_id, id)
);

create table group_members (
  project_id text collate "C" not null,
  group_id text collate "C" not null,
  keyword_id text collate "C" not null,
  primary key (project_id, group_id, keyword_id),
  foreign key (project_id, group_id) references groups (project_id, id) on delete cascade deferrable initially deferred,
  foreign key (project_id, keyword_id) references keywords (project_id, id) on delete cascade deferrable initially deferred
);
create index group_members_of_keyword on group_members (project_id, keyword_id, group_id);

create table page_groups (
  project_id text collate "C" not null references projects (id) on delete cascade,
  id text collate "C" not null,
  name text collate "C" not null,
  position bigint not null,
  rule text collate "C" not null,
  pinned_urls text collate "C" not null,
  primary key (project_id, id)
);

create table alerts (
  id text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  type text collate "C" not null,
  kind text collate "C" not null,
  severity text collate "C" not null check (severity in ('info', 'warning', 'critical')),
  title text collate "C" not null,
  body text collate "C" not null,
  date text collate "C",
  keyword_id text collate "C",
  url text collate "C",
  created_at bigint not null,
  resolved_at bigint
);
create index alerts_of_project on alerts (project_id, created_at desc, id);

create table alert_rules (
  id text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  name text collate "C" not null,
  rule text collate "C" not null,
  severity text collate "C" not null check (severity in ('info', 'warning', 'critical')),
  enabled bigint not null
);
create index alert_rules_of_project on alert_rules (project_id, id);

create table alert_evaluations (
  project_id text collate "C" primary key references projects (id) on delete cascade,
  settled_through text collate "C" not null,
  evaluated_through text collate "C" not null,
  state text collate "C" not null,
  rules text collate "C" not null,
  facts_revision bigint not null,
  entities_revision bigint not null,
  evaluated_at bigint not null
);

create table evaluated_alerts (
  id text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  type text collate "C" not null,
  subject text collate "C" not null,
  basis text collate "C" not null,
  kind text collate "C" not null,
  severity text collate "C" not null check (severity in ('info', 'warning', 'critical')),
  title text collate "C" not null,
  body text collate "C" not null,
  date text collate "C" not null,
  keyword_id text collate "C",
  url text collate "C",
  created_at bigint not null,
  resolved_at bigint
);
create index evaluated_alerts_of_project on evaluated_alerts (project_id, created_at desc, id);
-- By hashes of subjects, which may be longer than an index allows.
create unique index one_open_alert on evaluated_alerts (project_id, type, md5(subject)) where resolved_at is null;

create view all_alerts as
select id, project_id, 'snapshot' collate "C" as origin, type, kind, severity, title, body, date, keyword_id, url,
  created_at, resolved_at
from alerts
union all
select id, project_id, 'evaluated' collate "C", type, kind, severity, title, body, date, keyword_id, url, created_at,
  resolved_at
from evaluated_alerts;

create table notes (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  project_id text collate "C" references projects (id) on delete cascade,
  scope text collate "C" not null check (scope in ('workspace', 'project', 'group', 'keyword', 'page')),
  date text collate "C" not null,
  end_date text collate "C",
  category text collate "C" not null,
  text text collate "C" not null,
  client_visible bigint not null,
  author text collate "C" not null,
  group_id text collate "C",
  keyword_id text collate "C",
  page text collate "C",
  created_at bigint not null,
  updated_at bigint not null
);
create index notes_of_workspace on notes (workspace_id, project_id, date);
create index notes_of_project on notes (project_id);

create table connections (
  project_id text collate "C" not null references projects (id) on delete cascade,
  kind text collate "C" not null check (kind in ('search-console', 'bigquery')),
  credentials text collate "C",
  endpoint text collate "C",
  token_endpoint text collate "C",
  dataset text collate "C",
  location text collate "C",
  changed_at bigint not null,
  archive text collate "C" not null default 'queries,pages'
    check (archive in ('queries,pages', 'queries', 'pages', 'none')),
  primary key (project_id, kind),
  check ((kind = 'bigquery') = (dataset is not null))
);

create table provider_pauses (
  kind text collate "C" not null check (kind in ('search-console', 'bigquery')),
  property text collate "C" not null,
  until bigint not null,
  reason text collate "C" not null default 'load-quota' check (reason in ('load-quota', 'rate-limit', 'broken')),
  load_refused_on text collate "C",
  primary key (kind, property)
);

create table sync_projects (
  project_id text collate "C" primary key references projects (id) on delete cascade,
  first_day text collate "C",
  last_day text collate "C",
  brand_terms text collate "C",
  country text collate "C",
  last_run_at bigint,
  last_success_at bigint,
  last_error text collate "C",
  failures bigint not null default 0,
  next_run_at bigint,
  reconciled_at bigint,
  kept_from text collate "C"
);

create table sync_days (
  project_id text collate "C" not null references projects (id) on delete cascade,
  fact_table text collate "C" not null,
  day text collate "C" not null,
  state text collate "C" not null check (state in ('done', 'empty', 'failed')),
  final bigint not null,
  cut_off bigint not null,
  rows bigint not null,
  clicks bigint not null,
  impressions bigint not null,
  digest text collate "C" not null,
  compared bigint not null,
  fetched_at bigint not null,
  attempts bigint not null,
  reason text collate "C",
  next_try bigint,
  primary key (project_id, fact_table, day)
);

create table sync_keywords (
  project_id text collate "C" not null references projects (id) on delete cascade,
  keyword_id text collate "C" not null,
  query text collate "C" not null,
  first_day text collate "C" not null,
  last_day text collate "C" not null,
  primary key (project_id, keyword_id)
);

create table fact_files (
  project_id text collate "C" not null references projects (id) on delete cascade,
  fact_table text collate "C" not null,
  part text collate "C" not null,
  file text collate "C" not null unique,
  rows bigint not null,
  first_day text collate "C" not null,
  last_day text collate "C" not null,
  bytes bigint not null,
  sha256 text collate "C" not null,
  revision bigint not null default 0,
  primary key (project_id, fact_table, part)
);

create table retired_files (
  file text collate "C" primary key,
  retired_at bigint not null,
  last_day text collate "C" not null default '',
  bytes bigint not null default 0,
  sha256 text collate "C" not null default '',
  revision bigint not null default 0
);
create index retired_files_by_time on retired_files (retired_at);

-- The files that loads were about to write; those of killed loads are removed by the next one.
create table planned_files (
  file text collate "C" primary key,
  load text collate "C" not null
);
create index planned_files_of_load on planned_files (load);

create table removed_parts (
  project_id text collate "C" not null references projects (id) on delete cascade,
  fact_table text collate "C" not null,
  part text collate "C" not null,
  revision bigint not null,
  primary key (project_id, fact_table, part)
);

create table loaded_tables (
  project_id text collate "C" not null references projects (id) on delete cascade,
  fact_table text collate "C" not null,
  primary key (project_id, fact_table)
);

create function retire_file() returns trigger language plpgsql as $$
begin
  insert into retired_files (file, retired_at, last_day, bytes, sha256, revision)
  values (old.file, floor(extract(epoch from clock_timestamp())) * 1000000, old.last_day, old.bytes, old.sha256,
    old.revision)
  on conflict (file) do update set retired_at = excluded.retired_at, last_day = excluded.last_day,
    bytes = excluded.bytes, sha256 = excluded.sha256, revision = excluded.revision;
  return null;
end $$;
create trigger retire_removed_file after delete on fact_files for each row execute function retire_file();
create trigger retire_replaced_file after update of file on fact_files for each row when (old.file <> new.file)
  execute function retire_file();

create table lists (
  file text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  kind text collate "C" not null check (kind in ('pages', 'queries')),
  first_day text collate "C" not null,
  last_day text collate "C" not null,
  country text collate "C" not null,
  source_key text collate "C" not null,
  source text collate "C" not null check (source in ('gsc', 'bigquery')),
  rows bigint not null,
  truncated bigint not null,
  capped bigint not null,
  final bigint not null,
  bytes bigint not null,
  fetched_at bigint not null,
  sha256 text collate "C" not null default '',
  unique (project_id, kind, first_day, last_day, country, source_key)
);
create index lists_by_age on lists (fetched_at);
create index lists_by_source on lists (project_id, source_key);

create table retired_lists (
  file text collate "C" primary key,
  retired_at bigint not null
);

create function retire_list() returns trigger language plpgsql as $$
begin
  insert into retired_lists values (old.file, floor(extract(epoch from clock_timestamp())) * 1000000)
  on conflict (file) do update set retired_at = excluded.retired_at;
  return null;
end $$;
create trigger retire_removed_list after delete on lists for each row execute function retire_list();

-- Counted when it is read: a row of running sums would make transactions wait for each other.
create view list_totals as
select 1::bigint as "only", count(*) as lists, coalesce(sum(bytes), 0)::bigint as bytes from lists;

create table revision (
  "only" bigint primary key check ("only" = 1),
  value bigint not null
);
insert into revision values (1, 0);

create table publication (
  "only" bigint primary key check ("only" = 1),
  number bigint not null,
  id text collate "C" not null
);
insert into publication values (1, 0, '');

create table audit (
  id bigint generated by default as identity primary key,
  at bigint not null,
  workspace_id text collate "C",
  actor text collate "C" not null,
  action text collate "C" not null,
  subject text collate "C",
  details text collate "C" not null
);
create index audit_by_time on audit (at);
create index audit_of_workspace on audit (workspace_id, at);

create table last_backup (
  "only" bigint primary key check ("only" = 1),
  target text collate "C" not null,
  started_at bigint not null,
  finished_at bigint not null,
  files bigint not null,
  bytes bigint not null,
  copied_bytes bigint not null
);

-- Usage, which may be lost: without the log of writes.
create unlogged table list_uses (
  file text collate "C" primary key,
  used_at bigint not null,
  hits bigint not null
);
create index list_uses_by_time on list_uses (used_at);

create unlogged table page_sequences (
  reader text collate "C" not null,
  sequence text collate "C" not null,
  next_offset bigint not null,
  file text collate "C" not null,
  list text collate "C" not null,
  at bigint not null
);
-- By a hash of the query, which may be longer than an index allows.
create unique index page_sequences_by_place on page_sequences (reader, md5(sequence), next_offset);
create index page_sequences_by_file on page_sequences (file, at);
create index page_sequences_by_time on page_sequences (at);

create unlogged table key_uses (
  id text collate "C" primary key,
  used_at bigint not null
);

create unlogged table key_days (
  id text collate "C" not null,
  day text collate "C" not null,
  requests bigint not null,
  last_at bigint not null,
  primary key (id, day)
);

create unlogged table job_states (
  job text collate "C" primary key,
  started_at bigint not null,
  ended_at bigint,
  outcome text collate "C",
  failures bigint not null,
  error text collate "C",
  result text collate "C",
  progress text collate "C",
  next_at bigint not null
);

create unlogged table provider_requests (
  owner text collate "C" not null,
  at bigint not null
);
create index provider_requests_by_time on provider_requests (at, owner);

create unlogged table loads (
  kind text collate "C" primary key,
  published bigint not null default 0,
  rejected bigint not null default 0,
  failed bigint not null default 0,
  rows bigint not null default 0,
  seconds double precision not null default 0,
  last_at bigint,
  last_rows bigint,
  last_seconds double precision
);

-- Records a request to a provider and returns a row, if the rate limits allow it. One at a time over all processes: a
-- statement alone would not count requests that others are recording right now.
create function take_provider_request(owner_ text, at_ bigint, per_minute bigint, per_second bigint)
returns setof bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7303780, 3);
  return query
  insert into provider_requests (owner, at)
  select owner_, at_
  where (select count(*) from provider_requests where at > at_ - 60000) < per_minute
    and (select count(*) from provider_requests where at > at_ - 1000 and owner = owner_) < per_second
  returning at;
end $$;
