-- The projects of a property in a workspace, oldest first. $workspace, $property.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.workspace_id = $workspace and p.property = $property order by p.created_at, p.id
