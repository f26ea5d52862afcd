-- Connections to search providers, and the source of each stored list.
-- Instants are microseconds since 1970 (UTC); days are YYYY-MM-DD; booleans are 0 or 1.

-- How a project reaches a provider. Holds no secret: `credentials` names a file, or is null for the environment's own.
create table connections (
  project_id text not null references projects (id) on delete cascade,
  kind text not null check (kind in ('search-console', 'bigquery')),
  credentials text,
  endpoint text,
  token_endpoint text,
  dataset text,
  location text,
  changed_at integer not null,
  primary key (project_id, kind),
  check ((kind = 'bigquery') = (dataset is not null))
) strict, without rowid;

-- Properties for which requests are paused, because their provider reported an exhausted quota.
create table provider_pauses (
  kind text not null check (kind in ('search-console', 'bigquery')),
  property text not null,
  until integer not null,
  primary key (kind, property)
) strict, without rowid;

-- Stored lists can be fetched again: the table is recreated, and the old files are swept.
drop table lists;

-- Stored page and query lists. `country` is '' for all countries; `basis` is the source that a list was made from and
-- becomes invalid with: 'property PROPERTY' for a provider, or 'facts REVISION' for own facts.
create table lists (
  file text primary key,
  project_id text not null references projects (id) on delete cascade,
  kind text not null check (kind in ('pages', 'queries')),
  first_day text not null,
  last_day text not null,
  country text not null,
  basis text not null,
  source text not null check (source in ('gsc', 'bigquery')),
  rows integer not null,
  truncated integer not null,
  capped integer not null,
  final integer not null,
  bytes integer not null,
  fetched_at integer not null,
  used_at integer not null,
  hits integer not null default 0,
  unique (project_id, kind, first_day, last_day, country, basis)
) strict, without rowid;
create index lists_by_use on lists (used_at);
