-- A month that has no rows any more. $project, $table, $month.
delete from fact_files where project_id = $project and fact_table = $table and month = $month
