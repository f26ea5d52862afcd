-- The schema of release 1.0: the catalog, and the usage database beside it.

-- Instants are microseconds since 1970 (UTC), days are YYYY-MM-DD, flags are 0 or 1, and lists and rules are JSON texts unless
-- said otherwise. Text compares by bytes.

-- (postgres)
create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- (postgres)
-- A JSON list of texts, as SQLite has it.
create function json_list(texts text[]) returns text language sql immutable as $$ select to_json(texts)::text $$;
create aggregate json_group_array(text) (sfunc = array_append, stype = text[], initcond = '{}', finalfunc = json_list);

-- (postgres)
-- `value` is raised at the end of each transaction that changes the catalog. `migrations`: the version of the schema. `schema`:
-- that of the oldest release which can still use the catalog: a change that takes away what releases read sets it. Most of the
-- page stays free, so that new versions of the row need no other page.
create table catalog_version (
  "only" integer primary key check ("only" = 1),
  value integer not null,
  schema integer not null,
  migrations integer
) with (fillfactor = 10);
insert into catalog_version values (1, 0, 100, 100);

-- (postgres, 0.2)
alter table catalog_version add column if not exists migrations bigint;

-- Workspaces, and who may do what in them.

-- `requests_per_minute`: that each key may send; null: the default. `keep_days`: days of facts to keep; null: as many as the
-- setting says; 0: all.
create table workspaces (
  id text primary key,
  name text not null,
  plan text not null,
  keyword_history_days integer not null check (keyword_history_days >= 1),
  requests_per_minute integer check (requests_per_minute >= 1),
  keep_days integer
) strict;

create table members (
  workspace_id text not null references workspaces (id) on delete cascade,
  email text collate nocase not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  primary key (workspace_id, email)
) strict;

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

-- An `entities_revision` of 0 marks a project that is being created. `tracked_keywords`: how many, so that requests need not
-- count them. `files_since`: the revision from which on all changes of its files are known; 0: none is. `brand_words`: brand
-- terms that are whole words; null for none.
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
  facts_revision integer not null default 1,
  entities_revision integer not null default 0,
  tracked_keywords integer not null default 0,
  files_since integer not null default 0,
  brand_words text
) strict;
create index projects_of_workspace on projects (workspace_id, created_at, id);

-- (new)
-- How often something was edited in a project, or in a workspace: its projects, and what is in none of them. Loads compare it. `id`: that of the
-- project or workspace, which may be gone. A table of its own, because servers of 0.2 read all columns of projects.
create table edits (
  owner text not null check (owner in ('project', 'workspace')),
  id text not null,
  count integer not null,
  primary key (owner, id)
) strict, without rowid;

-- Of keys, only hashes are stored (SHA-256, hexadecimal). `last_used_before`: the last use that an older version stored here.
-- `limited`: 1 if the key may read only the projects in key_projects, also when none of them is left. `replaced_by`: the key
-- that replaces this one, which is valid until `expires_at`. `scope`: what it may do besides reading reports: `sql`, or null.
create table keys (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  name text not null,
  prefix text not null,
  hash text not null unique,
  created_at integer not null,
  created_by text,
  last_used_before integer,
  revoked_at integer,
  expires_at integer,
  limited integer not null default 0 check (limited in (0, 1)),
  replaced_by text,
  scope text -- (sqlite)
  scope text collate "default" -- (postgres)
) strict;
create index keys_of_workspace on keys (workspace_id, created_at);

create table key_projects (
  key_id text not null references keys (id) on delete cascade,
  project_id text not null references projects (id) on delete cascade,
  primary key (key_id, project_id)
) strict, without rowid;
create index key_projects_of_project on key_projects (project_id);

-- What a key allows: its workspace, and its projects, or null for all.
create view key_rights as
select
  k.id as key_id,
  k.hash,
  k.workspace_id,
  k.revoked_at,
  k.expires_at as key_expires_at,
  case when k.limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = k.id)
  end as projects
from keys k;

-- Addresses that answer one question without a header, by the right of a key. Only the hash of their token is stored.
create table feeds (
  id text primary key,
  key_id text not null references keys (id) on delete cascade,
  hash text not null unique,
  path text not null,
  created_at integer not null,
  revoked_at integer
) strict;
create index feeds_of_key on feeds (key_id, created_at);

-- One-time links that begin sessions of the dashboard. These and sessions belong to a key, or to a member by email address. Of
-- their secrets only hashes are stored (SHA-256, hexadecimal).
create table login_links (
  hash text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text references keys (id) on delete cascade,
  email text, -- (sqlite)
  email text collate nocase, -- (postgres)
  expires_at integer not null,
  check ((key_id is null) <> (email is null))
) strict, without rowid;

create table sessions (
  hash text primary key,
  id text not null,
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text references keys (id) on delete cascade,
  email text, -- (sqlite)
  email text collate nocase, -- (postgres)
  created_at integer not null,
  expires_at integer not null,
  check ((key_id is null) <> (email is null))
) strict, without rowid;
create index sessions_by_end on sessions (expires_at);

-- (postgres)
-- What is deleted with a workspace or a key.
create index login_links_of_workspace on login_links (workspace_id);
create index login_links_of_key on login_links (key_id);
create index sessions_of_workspace on sessions (workspace_id);
create index sessions_of_key on sessions (key_id);

-- Links that show one project to whoever has them. `token_hash`: SHA-256 of the token in the address, hexadecimal;
-- `password_hash`: scrypt with its salt, null without a password.
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

-- (new)
-- Forms that have created something. A form that is submitted again gets the stored result. `hash` is that of the key that the
-- form has made, `request` that of what it sent. `result` is encrypted by the key itself, which is not stored.
create table submissions (
  hash text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  request text not null,
  result text not null,
  created_at integer not null
) strict, without rowid;
create index submissions_by_age on submissions (created_at);
create index submissions_by_workspace on submissions (workspace_id);

-- Who did what. Rows outlive what they are about, so nothing is referenced.
create table audit (
  id integer primary key autoincrement, -- (sqlite)
  id bigint generated by default as identity primary key, -- (postgres)
  at integer not null,
  workspace_id text,
  actor text not null,
  action text not null,
  subject text,
  details text not null
) strict;
create index audit_by_time on audit (at);
create index audit_of_workspace on audit (workspace_id, at);

-- What a project tracks, and what its members note.

-- `tags`: null for none. `target_url`: the page that should rank for it.
create table keywords (
  project_id text not null references projects (id) on delete cascade,
  id text not null,
  query text not null,
  source text not null,
  tracked_since integer not null,
  intent text not null,
  archived integer not null,
  target_url text,
  tags text,
  primary key (project_id, id)
) strict, without rowid;

-- (sqlite)
-- Queries may be longer than an index of PostgreSQL allows.
create index keywords_by_query on keywords (project_id, query, id) where archived = 0;

-- (new)
-- Stored days on which a keyword is unknown: it was tracked after they were stored, or was archived when they were. Without a
-- row, a keyword is known on all stored days. Those of a keyword do not overlap.
create table keyword_gaps (
  project_id text not null,
  keyword_id text not null,
  first_day text not null,
  last_day text not null,
  primary key (project_id, keyword_id, first_day),
  foreign key (project_id, keyword_id) references keywords (project_id, id) on delete cascade
) strict, without rowid;

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

-- (postgres)
-- What is deleted with a project.
create index notes_of_project on notes (project_id);

-- Views of a project that members have named, for all of the workspace. `address`: the screen and its parameters, below the
-- address of the project.
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

-- The projects that a member has marked.
create table favourites (
  project_id text not null references projects (id) on delete cascade,
  email text not null,
  primary key (project_id, email)
) strict, without rowid;

-- Findings that owners and admins have dismissed. `id`: a digest of project, type, country and row, so that each is dismissed
-- once. `row_kind`: page or query. The rest is what was found then, over so many `days` to the day `through`: whoever asks
-- later compares with it. `pages`: of split queries.
create table dismissed_findings (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  type text not null,
  row_kind text not null,
  row_text text not null,
  country text,
  days integer not null,
  through text not null,
  gain_clicks integer,
  gain_low integer,
  gain_high integer,
  pages text,
  author text not null,
  dismissed_at integer not null
) strict, without rowid;
create index dismissed_findings_of_project on dismissed_findings (project_id);

-- Alerts: those of snapshots, and those of our own rules.

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

create table alert_rules (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  rule text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  enabled integer not null
) strict;
create index alert_rules_of_project on alert_rules (project_id, name, id); -- (sqlite)
create index alert_rules_of_project on alert_rules (project_id, id); -- (postgres)

-- How far a project has been evaluated: a replay begins behind `settled_through` with what was known then (`state`: counters,
-- open alerts and their baselines). `rules`: the first evaluated day of each rule. The revisions are those of the facts and
-- entities that the last evaluation read.
create table alert_evaluations (
  project_id text primary key references projects (id) on delete cascade,
  settled_through text not null,
  evaluated_through text not null,
  state text not null,
  rules text not null,
  facts_revision integer not null,
  entities_revision integer not null,
  evaluated_at integer not null
) strict, without rowid;

-- A table of its own: what loads replace, and what the journal holds, are the alerts of snapshots alone.
create table evaluated_alerts (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  type text not null,
  subject text not null,
  basis text not null,
  kind text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  title text not null,
  body text not null,
  date text not null,
  keyword_id text,
  url text,
  created_at integer not null,
  resolved_at integer
) strict;
create index evaluated_alerts_of_project on evaluated_alerts (project_id, created_at desc, id);
-- In PostgreSQL by hashes of subjects, which may be longer than an index allows.
create unique index one_open_alert on evaluated_alerts (project_id, type, subject) where resolved_at is null; -- (sqlite)
create unique index one_open_alert on evaluated_alerts (project_id, type, md5(subject)) where resolved_at is null; -- (postgres)

-- All alerts, and whose they are.
create view all_alerts as
select
  id, project_id,
  'snapshot' as origin, -- (sqlite)
  'snapshot' collate "C" as origin, -- (postgres)
  type, kind, severity, title, body, date, keyword_id, url, created_at, resolved_at
from alerts
union all
select
  id, project_id,
  'evaluated', -- (sqlite)
  'evaluated' collate "C", -- (postgres)
  type, kind, severity, title, body, date, keyword_id, url, created_at, resolved_at
from evaluated_alerts;

-- Channels of delivery, and what is sent over them.

-- Addresses of chats and webhooks, secrets of signatures and tokens of unsubscribe links are encrypted. `shown`: the address as
-- lists show it; `address`: null where that is all of it. Null `types` and `min_severity` are for all. `secret`: what signs
-- webhooks, or the token of unsubscribe links, which `token_hash` (SHA-256, hexadecimal) finds; `old_secret` signs too until
-- `old_secret_until`.
create table channels (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  project_id text references projects (id) on delete cascade,
  kind text not null,
  name text not null,
  shown text not null,
  address text,
  events text not null,
  types text,
  min_severity text check (min_severity in ('info', 'warning', 'critical')),
  state text not null check (state in ('on', 'disabled')),
  secret text,
  old_secret text,
  old_secret_until integer,
  token_hash text unique,
  created_at integer not null
) strict, without rowid;
create index channels_of_workspace on channels (workspace_id);
create index channels_of_project on channels (project_id);

-- `body`: the JSON that a webhook gets; links are paths until the first attempt. `claim`: the sender that has it until
-- `claimed_until`. `status`: that of the last answer; `ended_at`: when it was sent, failed or cancelled.
create table deliveries (
  id text primary key,
  channel_id text not null references channels (id) on delete cascade,
  event text not null,
  subject text not null,
  body text not null,
  state text not null check (state in ('pending', 'sent', 'failed', 'cancelled')),
  attempts integer not null,
  next_at integer,
  claim text,
  claimed_until integer,
  status integer,
  answer text,
  created_at integer not null,
  sent_at integer,
  ended_at integer
) strict, without rowid;
create index deliveries_of_channel on deliveries (channel_id, created_at);
create index deliveries_pending on deliveries (channel_id, next_at, created_at, id) where state = 'pending';
create index deliveries_claimed on deliveries (channel_id, claimed_until) where claimed_until is not null;
create index deliveries_ended on deliveries (ended_at) where ended_at is not null;

-- Verdicts on noted changes that the digests of a channel have listed, each once. `event`: which of its digests.
create table digest_verdicts (
  channel_id text not null references channels (id) on delete cascade,
  event text not null,
  note_id text not null,
  primary key (channel_id, event, note_id)
) strict, without rowid;

-- Providers: connections, and what the sync knows of connected projects. All that the sync knows goes with the project, and can
-- be lost: then it is fetched again.

-- Grants of accounts to read their properties, which owners gave in the browser. `kind`: the provider of accounts; `ends_at`:
-- when the provider ends it, null if it did not say; `lost_at`: when the provider refused it. The token is encrypted.
create table grants (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  kind text not null,
  client_id text not null,
  connected_by text not null, -- (sqlite)
  connected_by text collate nocase not null, -- (postgres)
  connected_at integer not null,
  ends_at integer,
  lost_at integer,
  refresh_token text not null
) strict, without rowid;
create index grants_by_workspace on grants (workspace_id);

-- Attempts to get a grant. What a browser brings back is stored as a hash (SHA-256, hexadecimal); the verifier is encrypted.
create table connect_attempts (
  state_hash text primary key,
  cookie_hash text not null,
  session_hash text not null references sessions (hash) on delete cascade,
  verifier text not null,
  expires_at integer not null
) strict, without rowid;
create index connect_attempts_by_session on connect_attempts (session_hash);

-- How a project reaches a provider. Holds no secret: `credentials` names a file, or is null for the environment's own. Kinds
-- and their options are known to providers, not to the catalog. `archive`: what it keeps of all queries and pages beside the
-- tracked keywords.
create table connections (
  project_id text not null references projects (id) on delete cascade,
  kind text not null,
  credentials text,
  endpoint text,
  token_endpoint text,
  dataset text,
  location text,
  changed_at integer not null,
  archive text not null default 'queries,pages' check (archive in ('queries,pages', 'queries', 'pages', 'none')),
  grant_id text references grants (id) on delete cascade,
  primary key (project_id, kind)
) strict, without rowid;
create index connections_by_grant on connections (grant_id);

-- Properties that are left alone, and why. `load_refused_on`: the Pacific day of the last refusal over load, since the second
-- one of a day is told from the first.
create table provider_pauses (
  kind text not null,
  property text not null,
  until integer not null,
  reason text not null default 'load-quota' check (reason in ('load-quota', 'rate-limit', 'broken')),
  load_refused_on text,
  primary key (kind, property)
) strict, without rowid;

-- Days are Pacific. `first_day` and `last_day`: the days that are wanted, as the last run saw them. `brand_terms` and
-- `country`: what the stored facts were fetched with. `failures`: runs in a row that did not succeed. `reconciled_at`: when
-- final days were last compared with the provider. `kept_from`: the first day that the last run was to keep; null: all.
-- `failing`: whether channels were told that the sync fails. `requested_at`: when somebody last asked for a sync, which fetches
-- days again. `hours_until`: the first hour that may still change, by its start.
create table sync_projects (
  project_id text primary key references projects (id) on delete cascade,
  first_day text,
  last_day text,
  brand_terms text,
  country text,
  last_run_at integer,
  last_success_at integer,
  last_error text,
  failures integer not null default 0,
  next_run_at integer,
  reconciled_at integer,
  kept_from text,
  failing integer not null default 0,
  requested_at integer,
  hours_until integer
) strict, without rowid;

-- What was published of a table and day; a day without a row is pending. `digest`: of the rows that were fetched, so that it
-- can be told whether another fetch changed them. `compared`: the age in days at which it was last compared.
create table sync_days (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  day text not null,
  state text not null check (state in ('done', 'empty', 'failed')),
  final integer not null,
  cut_off integer not null,
  rows integer not null,
  clicks integer not null,
  impressions integer not null,
  digest text not null,
  compared integer not null,
  fetched_at integer not null,
  attempts integer not null,
  reason text,
  next_try integer,
  primary key (project_id, fact_table, day)
) strict, without rowid;

-- The days from and to which a keyword has been fetched, as far as they are published, and by which query.
create table sync_keywords (
  project_id text not null references projects (id) on delete cascade,
  keyword_id text not null,
  query text not null,
  first_day text not null,
  last_day text not null,
  primary key (project_id, keyword_id)
) strict, without rowid;

-- The sitemaps of a connected project, as the search engine last told them of `property`; null before the first answer.
-- `reason`: why the last request failed.
create table sitemaps (
  project_id text primary key references projects (id) on delete cascade,
  property text not null,
  sitemaps text,
  fetched_at integer,
  reason text,
  due_at integer not null
) strict, without rowid;

-- The index state of pages, as the search engine last told it of `property`. `due_at`: when the next inspections are due.
-- `reason`: why the last ones ended early; null if they did not.
create table inspection_projects (
  project_id text primary key references projects (id) on delete cascade,
  property text not null,
  due_at integer not null,
  reason text
) strict, without rowid;

-- `state`: JSON, null before the first answer. `since`: of this verdict. `first_at`: the first answer. `changes`: of the state.
-- `repeats`: inspections in a row with this state. `tried_at`, `failures`: the last attempt, and how many failed in a row.
create table inspected_pages (
  project_id text not null references inspection_projects (project_id) on delete cascade,
  url text not null,
  state text,
  last_crawl_time text,
  inspected_at integer,
  since integer,
  first_at integer,
  changes integer not null,
  repeats integer not null,
  tried_at integer not null,
  failures integer not null,
  primary key (project_id, url)
) strict, without rowid;

-- Each state that a page had, from its first inspection with it. `second_at`: of the second one, null before. `clicks`: of the
-- page in the 28 days before the first one. `watched`: 1 if it is a target page of a keyword, or pinned to a group.
create table inspection_changes (
  project_id text not null references inspection_projects (project_id) on delete cascade,
  url text not null,
  since integer not null,
  state text not null,
  second_at integer,
  clicks integer not null,
  watched integer not null,
  primary key (project_id, url, since)
) strict, without rowid;

-- (new)
-- What the crawler of a search engine did on a day, as it was last told of `property`. `counts`: a JSON object. Days that are
-- no longer told stay.
create table crawl_days (
  project_id text not null references projects (id) on delete cascade,
  property text not null,
  day text not null,
  counts text not null,
  primary key (project_id, property, day)
) strict, without rowid;

-- (new)
-- Ranking updates of the search engine, as its incident feed had them when it was last read. `from_day` and `to_day` are
-- Pacific; `to_day` is null until the update is rolled out.
create table ranking_updates (
  id text not null primary key,
  title text not null,
  from_day text not null,
  to_day text,
  source text not null
) strict, without rowid;

-- (new)
-- The last day that the feed was complete for when it was read; no row before.
create table ranking_feed (
  "only" integer primary key check ("only" = 1),
  through text not null
) strict;

-- The manifest and lists: which files are current.

-- The one Parquet file that is current for each project, fact table and part. A part is a month (YYYY-MM) or, for tables that
-- are kept in one file, 'all'. `revision`: from which on it is current; 0 within the transaction that makes it so, until the
-- revision of its project is raised.
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
  revision integer not null default 0,
  primary key (project_id, fact_table, part)
) strict, without rowid;

-- Files that were current until a load replaced them, as they were in the manifest; running requests may still read them for a
-- while.
create table retired_files (
  file text primary key,
  retired_at integer not null,
  last_day text not null default '',
  bytes integer not null default 0,
  sha256 text not null default '',
  revision integer not null default 0
) strict, without rowid;
create index retired_files_by_time on retired_files (retired_at); -- (postgres)

-- (sqlite)
-- Retire every file that leaves the manifest, also when its project is deleted.
create trigger retire_removed_file after delete on fact_files begin
  insert or replace into retired_files (file, retired_at, last_day, bytes, sha256, revision)
  values (old.file, unixepoch() * 1000000, old.last_day, old.bytes, old.sha256, old.revision);
end;
create trigger retire_replaced_file after update of file on fact_files when old.file <> new.file begin
  insert or replace into retired_files (file, retired_at, last_day, bytes, sha256, revision)
  values (old.file, unixepoch() * 1000000, old.last_day, old.bytes, old.sha256, old.revision);
end;

-- (postgres)
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

-- (postgres)
-- The files that loads were about to write; those of killed loads are removed by the next one. `again_at`: when the removed
-- file of a load that ended is removed once more: a store may still have put it there. With SQLite, a file beside the catalog
-- has them.
create table planned_files (
  file text primary key,
  load text not null,
  again_at integer
);
create index planned_files_of_load on planned_files (load);

-- Parts that have been without a file since a revision of their project. One that has a file again does not count.
create table removed_parts (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  part text not null,
  revision integer not null,
  primary key (project_id, fact_table, part)
) strict, without rowid;

-- Fact tables that a load has contained for a project, even if no rows are left. Tells a table that was loaded and is empty
-- from one that is unknown.
create table loaded_tables (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  primary key (project_id, fact_table)
) strict, without rowid;

-- (new)
-- Days of a fact table that came from a bulk export of the search engine, and that no later load or sync has replaced.
create table bulk_export_days (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  from_day text not null,
  to_day text not null,
  primary key (project_id, fact_table, from_day)
) strict, without rowid;

-- Stored page and query lists. `country` is '' for all countries. `source_key`: the source that a list was made from and
-- becomes invalid with: 'property PROPERTY' for a provider, or 'facts REVISION' for own facts. `selection`: a hash of the part,
-- for the queries of one page or the pages of one query; '' for whole lists.
create table lists (
  file text primary key,
  project_id text not null references projects (id) on delete cascade,
  kind text not null check (kind in ('pages', 'queries')),
  first_day text not null,
  last_day text not null,
  country text not null,
  source_key text not null,
  source text not null,
  rows integer not null,
  truncated integer not null,
  capped integer not null,
  final integer not null,
  bytes integer not null,
  fetched_at integer not null,
  sha256 text not null default '',
  selection text not null default '',
  unique (project_id, kind, first_day, last_day, country, selection, source_key)
) strict, without rowid;
create index lists_by_source on lists (project_id, source_key);
create index lists_by_age on lists (fetched_at);

-- (postgres, 0.2)
-- As a new catalog names them.
alter table lists rename constraint new_lists_pkey to lists_pkey;
alter table lists rename constraint new_lists_kind_check to lists_kind_check;
alter table lists rename constraint new_lists_project_id_fkey to lists_project_id_fkey;
alter table lists rename constraint new_lists_project_id_kind_first_day_last_day_country_select_key
  to lists_project_id_kind_first_day_last_day_country_selection__key;

-- Files of lists that were replaced or dropped; requests and page sequences may still read them for a while.
create table retired_lists (
  file text primary key,
  retired_at integer not null
) strict, without rowid;

-- (sqlite)
-- The number of stored lists, and their bytes.
create table list_totals (
  only integer primary key check (only = 1),
  lists integer not null,
  bytes integer not null
) strict;
insert into list_totals values (1, 0, 0);

-- (postgres)
-- Counted when it is read: a row of running sums would make transactions wait for each other.
create view list_totals as
select 1::bigint as "only", count(*) as lists, coalesce(sum(bytes), 0)::bigint as bytes from lists;

-- (sqlite)
-- Retire the file of every list that is deleted, also when its project is deleted.
create trigger count_stored_list after insert on lists begin
  update list_totals set lists = lists + 1, bytes = bytes + new.bytes;
end;
create trigger retire_removed_list after delete on lists begin
  update list_totals set lists = lists - 1, bytes = bytes - old.bytes;
  insert or replace into retired_lists values (old.file, unixepoch() * 1000000);
end;

-- (postgres)
create function retire_list() returns trigger language plpgsql as $$
begin
  insert into retired_lists values (old.file, floor(extract(epoch from clock_timestamp())) * 1000000)
  on conflict (file) do update set retired_at = excluded.retired_at;
  return null;
end $$;
create trigger retire_removed_list after delete on lists for each row execute function retire_list();

-- The catalog itself.

-- One counter for the revisions of all projects. A number is never reused, so that cached data of a removed project cannot be
-- served for a later project with the same id.
create table revision (
  "only" integer primary key check ("only" = 1),
  value integer not null
) strict;
insert into revision values (1, 0);

-- The last publication in the catalog. Each is also a record in the journal beside the facts (facts/journal). Comparing them
-- shows whether a record was committed, and whether the catalog is older than the facts. `changes` counts the transactions that
-- have changed a catalog in SQLite; its copies and the records of revocations are numbered by it.
create table publication (
  "only" integer primary key check ("only" = 1),
  number integer not null,
  id text not null,
  changes integer not null default 0
) strict;
insert into publication values (1, 0, '', 0);

-- (sqlite, 0.2)
alter table publication add column changes integer not null default 0;

-- (postgres, 0.2)
alter table publication add column if not exists changes bigint not null default 0;

-- (new)
-- The file store that this catalog belongs to, so that no process reads or writes another one. `store` and `address` are null
-- until the first process joins both; `catalog` says in the mark of a store which catalog it was joined with.
create table store_identity (
  "only" integer primary key check ("only" = 1),
  catalog text not null,
  store text,
  address text
) strict;
insert into store_identity ("only", catalog)
values (1, lower(hex(randomblob(16)))) -- (sqlite)
values (1, replace(cast(gen_random_uuid() as text), '-', '')) -- (postgres)
on conflict ("only") do nothing;

-- The last successful backup of this data folder, for metrics.
create table last_backup (
  "only" integer primary key check ("only" = 1),
  target text not null,
  started_at integer not null,
  finished_at integer not null,
  files integer not null,
  bytes integer not null,
  copied_bytes integer not null
) strict;

-- Usage, which may be lost. A file of its own beside SQLite's catalog: each commit to the catalog makes all processes read keys
-- and projects again. In PostgreSQL it has no log of writes.

-- (usage)
-- When each stored list was last read, and how often. The least recently used are looked up when room is needed.
create table list_uses (
  file text primary key,
  used_at integer not null,
  hits integer not null
) strict, without rowid;
create index list_uses_by_time on list_uses (used_at);

-- (usage)
-- The list that a reader's next page comes from: pages of one sequence never mix two lists. `sequence` identifies the reader's
-- query; `list` is the stored list as JSON; `at` is when the previous page was served. A file is not removed while a sequence
-- reads it.
create table page_sequences (
  reader text not null,
  sequence text not null,
  next_offset integer not null,
  file text not null,
  list text not null,
  at integer not null -- (postgres)
  at integer not null, -- (sqlite)
  primary key (reader, sequence, next_offset) -- (sqlite)
) strict, without rowid;
create index page_sequences_by_file on page_sequences (file, at);

-- (usage, postgres)
-- By a hash of the query, which may be longer than an index allows.
create unique index page_sequences_by_place on page_sequences (reader, md5(sequence), next_offset);
create index page_sequences_by_time on page_sequences (at);

-- (usage)
-- When each key was last used.
create table key_uses (
  id text primary key,
  used_at integer not null
) strict, without rowid;

-- (usage)
-- How many requests were sent with each key on each day (UTC), and the last of them.
create table key_days (
  id text not null,
  day text not null,
  requests integer not null,
  last_at integer not null,
  primary key (id, day)
) strict, without rowid;

-- (usage)
-- The last run of each background job, and when its next run is due; `ended_at` is null while it runs. `outcome`: succeeded,
-- failed, stopped or interrupted; `result`: JSON.
create table job_states (
  job text primary key,
  started_at integer not null,
  ended_at integer,
  outcome text,
  failures integer not null,
  error text,
  result text,
  progress text,
  next_at integer not null
) strict, without rowid;

-- (usage)
-- The requests that all processes sent to providers in the last minute. `owner` is the provider and property of a request; `at`
-- is when it was sent, in milliseconds. Rate limits read the latest requests in total and of one owner.
create table provider_requests (
  owner text not null,
  at integer not null
) strict;
create index provider_requests_by_time on provider_requests (at, owner);

-- (usage, postgres)
-- Records a request to a provider and returns a row, if the rate limits allow it. One at a time over all processes: a statement
-- alone would not count requests that others are recording right now.
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

-- (usage)
-- The requests that all processes sent to providers on the last day of each owner, for limits by day.
create table provider_days (
  owner text primary key,
  day text not null,
  requests integer not null
) strict, without rowid;

-- (usage)
-- What loads did, by kind: `snapshot`, `import` or `sync`. `published`, `rejected` and `failed` count loads; `rows` and
-- `seconds` are sums over published ones. The `last_` columns are about the last published one.
create table loads (
  kind text primary key,
  published integer not null default 0,
  rejected integer not null default 0,
  failed integer not null default 0,
  rows integer not null default 0,
  seconds real not null default 0,
  last_at integer,
  last_rows integer,
  last_seconds real
) strict, without rowid;
