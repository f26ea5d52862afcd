-- The days of a table that came from a bulk export, of all projects of a workspace. $workspace, $table.
select d.project_id as project, d.fact_table as "table", d.from_day as "from", d.to_day as "to"
from projects p join bulk_export_days d on d.project_id = p.id
where p.workspace_id = $workspace and d.fact_table = $table
order by d.project_id, d.from_day
