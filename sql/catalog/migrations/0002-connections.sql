-- Connections to search providers, and lists that tell where they came from.
-- Instants are microseconds since 1970 (UTC); days are YYYY-MM-DD; booleans are 0 or 1.

-- How a project reaches a provider. No secret is here: `credentials` names a file, or is null for the environment's own.
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

-- Properties that a provider has asked to be left alone for a while.
create table provider_pauses (
  kind text not null check (kind in ('search-console', 'bigquery')),
  property text not null,
  until integer not null,
  primary key (kind, property)
) strict, without rowid;

-- Kept lists can be fetched again: the table is made anew, and the files that it named are swept.
drop table lists;

-- Page and query lists that were fetched or computed and are kept. `country` is '' for all countries; `basis` is what
-- a list was made from and is lost with: 'property PROPERTY' of a provider, or 'facts REVISION' of own facts.
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
