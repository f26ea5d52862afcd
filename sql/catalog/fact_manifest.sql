-- The manifest of a project's fact table between two months. $project, $table, $from, $to: YYYY-MM.
select part, file, bytes, sha256, rows, first_day as firstDay, last_day as lastDay from fact_files
where project_id = $project and fact_table = $table and (part between $from and $to or part = 'all')
order by part
