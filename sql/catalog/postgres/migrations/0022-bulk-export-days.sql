-- Days of a fact table that came from a bulk export of the search engine, and that no later load or sync has replaced.
create table bulk_export_days (
  project_id text collate "C" not null references projects (id) on delete cascade,
  fact_table text collate "C" not null,
  from_day text collate "C" not null,
  to_day text collate "C" not null,
  primary key (project_id, fact_table, from_day)
);
