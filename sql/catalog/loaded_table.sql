-- Has any load contained this fact table of a project? $project, $table.
select 1 as loaded from loaded_tables where project_id = $project and fact_table = $table
