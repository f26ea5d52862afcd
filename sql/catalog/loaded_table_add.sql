-- Records that a load contained a fact table of a project. $project, $table.
insert into loaded_tables (project_id, fact_table) select id, cast($table as text) from projects where id = $project
on conflict do nothing
