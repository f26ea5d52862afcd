-- The current files of a fact table of all projects of a workspace. $workspace, $table.
select f.project_id as project, f.part, f.file, f.bytes, f.sha256, f.rows, f.first_day as firstDay, f.last_day as lastDay
from projects p join fact_files f on f.project_id = p.id
where p.workspace_id = $workspace and f.fact_table = $table
order by f.project_id, f.part
