-- The current files of a project that are newer than a revision. $project, $revision.
select fact_table as "table", part, file, rows, first_day as firstDay, last_day as lastDay, bytes, sha256
from fact_files where project_id = $project and revision > $revision order by fact_table, part
