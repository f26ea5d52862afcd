-- The projects of a workspace that have finished setup, oldest first. $workspace.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.workspace_id = $workspace and p.setup_finished = 1
order by p.created_at, p.id
