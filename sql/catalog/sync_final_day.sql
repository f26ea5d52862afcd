-- The last final day of a table, as far as the sync knows; null if it does not. $project, $table.
select max(day) as day from sync_days where project_id = $project and fact_table = $table and final = 1
