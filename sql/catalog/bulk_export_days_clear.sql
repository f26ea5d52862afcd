-- Forgets which days of a project's table came from a bulk export. $project, $table.
delete from bulk_export_days where project_id = $project and fact_table = $table
