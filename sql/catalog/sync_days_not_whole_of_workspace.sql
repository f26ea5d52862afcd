-- As sync_days_not_whole.sql, of all projects of a workspace. $workspace, $table; $from, $to: days.
select d.project_id as project, d.day, d.state, d.cut_off as cutOff
from projects p join sync_days d on d.project_id = p.id
where p.workspace_id = $workspace and d.fact_table = $table and d.day between $from and $to
  and (d.state <> 'done' or d.cut_off = 1)
