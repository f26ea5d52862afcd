-- One project of a workspace that has finished setup. $id, $workspace.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.id = $id and p.workspace_id = $workspace and p.setup_finished = 1
