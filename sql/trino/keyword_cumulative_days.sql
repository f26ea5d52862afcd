-- As alerts/keyword_cumulative_days.sql. {columns}: those of the days; $projects and $files: the projects and addresses of
-- the files.
select number as keyword, {columns}
from keyword_cumulative
where project_id in ($projects) and "$path" in ($files)
