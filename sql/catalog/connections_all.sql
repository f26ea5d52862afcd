-- Every connection, or those of one workspace. $workspace: a workspace, or null for all.
select p.workspace_id as workspace, c.project_id as project, p.property, c.kind, c.credentials,
  c.grant_id as "grant", c.endpoint,
  c.token_endpoint as tokenEndpoint, c.dataset, c.location, c.archive, c.changed_at as changedAt
from connections c join projects p on p.id = c.project_id
where cast($workspace as text) is null or p.workspace_id = $workspace
order by p.workspace_id, c.project_id, c.kind
