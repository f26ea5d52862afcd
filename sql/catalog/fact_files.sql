-- The current files of a project's fact table whose month lies in a range. $project, $table, $from, $to: YYYY-MM.
select file from fact_files
where project_id = $project and fact_table = $table and month between $from and $to
order by month
