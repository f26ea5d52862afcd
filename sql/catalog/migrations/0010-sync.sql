-- What the sync knows of connected projects. All of it goes with the project, and can be lost: then it is fetched again.
-- Instants are microseconds since 1970 (UTC); days are YYYY-MM-DD and Pacific; booleans are 0 or 1.

-- `first_day` and `last_day`: the days that are wanted, as the last run saw them. `brand_terms` (a JSON list) and
-- `country`: what the stored facts were fetched with. `failures`: runs in a row that did not succeed.
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
  next_run_at integer
) strict, without rowid;

-- What was published of a table and day; a day without a row is pending. `digest`: of the rows that were fetched, so that
-- it can be told whether another fetch changed them. `compared`: the age in days at which it was last compared.
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
