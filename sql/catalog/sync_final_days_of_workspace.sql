-- `sync_final_day` of the projects of a workspace that have one. $workspace, $table.
select d.project_id as project, max(d.day) as day
from sync_days d join projects p on p.id = d.project_id
where p.workspace_id = $workspace and d.fact_table = $table and d.final = 1
group by d.project_id
