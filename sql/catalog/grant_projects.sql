-- The projects of a workspace that read through a grant, with it. $workspace.
select c.grant_id as "grant", c.project_id as project, p.property
from projects p join connections c on c.project_id = p.id
where p.workspace_id = $workspace and c.grant_id is not null
order by p.created_at, p.id
