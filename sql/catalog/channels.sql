-- The channels of one workspace, or all, the oldest first; or the one with an id. $workspace, $id: null for all.
select id, workspace_id as workspace, project_id as project, kind, name, shown, address, events, types,
  min_severity as minSeverity, state, secret, old_secret as oldSecret, old_secret_until as oldSecretUntil,
  created_at as createdAt
from channels
where (cast($workspace as text) is null or workspace_id = $workspace) and (cast($id as text) is null or id = $id)
order by created_at, id
