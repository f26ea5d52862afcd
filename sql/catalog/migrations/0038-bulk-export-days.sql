-- Days of a fact table that came from a bulk export of the search engine, and that no later load or sync has replaced.
create table bulk_export_days (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  from_day text not null,
  to_day text not null,
  primary key (project_id, fact_table, from_day)
) strict, without rowid;
