-- One project of any workspace, finished or not. $id.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id where p.id = $id
