-- Fact tables that a load has carried for a project, also where no row of them is left: what was loaded and is empty is
-- told from what is unknown.
create table loaded_tables (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  primary key (project_id, fact_table)
) strict, without rowid;
insert into loaded_tables select distinct project_id, fact_table from fact_files;
