-- When final days of the projects of a workspace were last compared with the provider. $workspace.
select s.project_id as project, s.reconciled_at as reconciledAt
from projects p join sync_projects s on s.project_id = p.id
where p.workspace_id = $workspace and s.reconciled_at is not null
