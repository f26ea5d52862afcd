-- Fact tables that a load has contained for a project, even if no rows are left. Distinguishes a table that was loaded
-- and is empty from one that is unknown.
create table loaded_tables (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  primary key (project_id, fact_table)
) strict, without rowid;
insert into loaded_tables select distinct project_id, fact_table from fact_files;
