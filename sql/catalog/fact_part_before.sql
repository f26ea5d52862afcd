-- The last month of a project's fact table before another one. $project, $table; $month: YYYY-MM.
select max(part) as part from fact_files where project_id = $project and fact_table = $table and part < $month
