-- The index state of pages, as the search engine last told it of `property`. Instants are microseconds.
-- `due_at`: when the next inspections are due. `reason`: why the last ones ended early; null if they did not.
create table inspection_projects (
  project_id text primary key references projects (id) on delete cascade,
  property text not null,
  due_at integer not null,
  reason text
) strict, without rowid;

-- `state`: JSON, null before the first answer. `since`: of this verdict. `first_at`: the first answer. `changes`: of the
-- state. `repeats`: inspections in a row with this state. `tried_at`, `failures`: the last attempt, and how many failed in a
-- row.
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

-- Each state that a page had, from its first inspection with it. `second_at`: of the second one, null before. `clicks`: of
-- the page in the 28 days before the first one. `watched`: 1 if it is a target page of a keyword, or pinned to a group.
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
