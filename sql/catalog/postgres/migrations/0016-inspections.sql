-- The index state of pages, as the search engine last told it of `property`. Instants are microseconds.
-- `due_at`: when the next inspections are due. `reason`: why the last ones ended early; null if they did not.
create table inspection_projects (
  project_id text collate "C" primary key references projects (id) on delete cascade,
  property text collate "C" not null,
  due_at bigint not null,
  reason text collate "C"
);

-- `state`: JSON, null before the first answer. `since`: of this verdict. `first_at`: the first answer. `changes`: of the
-- state. `repeats`: inspections in a row with this state. `tried_at`, `failures`: the last attempt, and how many failed in a
-- row.
create table inspected_pages (
  project_id text collate "C" not null references inspection_projects (project_id) on delete cascade,
  url text collate "C" not null,
  state text collate "C",
  last_crawl_time text collate "C",
  inspected_at bigint,
  since bigint,
  first_at bigint,
  changes bigint not null,
  repeats bigint not null,
  tried_at bigint not null,
  failures bigint not null,
  primary key (project_id, url)
);

-- Each state that a page had, from its first inspection with it. `second_at`: of the second one, null before. `clicks`: of
-- the page in the 28 days before the first one. `watched`: 1 if it is a target page of a keyword, or pinned to a group.
create table inspection_changes (
  project_id text collate "C" not null references inspection_projects (project_id) on delete cascade,
  url text collate "C" not null,
  since bigint not null,
  state text collate "C" not null,
  second_at bigint,
  clicks bigint not null,
  watched bigint not null,
  primary key (project_id, url, since)
);

-- As create_provider_days.sql.
create unlogged table provider_days (
  owner text collate "C" primary key,
  day text collate "C" not null,
  requests bigint not null
);
