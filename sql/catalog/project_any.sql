-- One project of whatever workspace, unfinished ones included. $id.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id where p.id = $id
