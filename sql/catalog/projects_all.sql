-- Every project, finished or not. $workspace: null for all workspaces.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.workspace_id = coalesce($workspace, p.workspace_id)
order by p.workspace_id, p.created_at, p.id
