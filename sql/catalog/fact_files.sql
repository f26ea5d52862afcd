-- The current files of a project's fact table that can have rows in a range. $project, $table, $from, $to: YYYY-MM.
select file, bytes, sha256 from fact_files
where project_id = $project and fact_table = $table and (part between $from and $to or part = 'all')
order by part
