-- `sync_last_days` of the projects of a workspace that have any. $workspace, $table.
select d.project_id as project,
  max(case when d.final = 1 then d.day end) as final, max(case when d.state <> 'failed' then d.day end) as reported
from sync_days d join projects p on p.id = d.project_id
where p.workspace_id = $workspace and d.fact_table = $table
group by d.project_id
