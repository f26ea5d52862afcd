-- The grants of one workspace, or all, the oldest first. $workspace: a workspace, or null for all.
select id, workspace_id as workspace, kind, client_id as clientId, connected_by as connectedBy,
  connected_at as connectedAt, ends_at as endsAt, lost_at as lostAt, refresh_token as refreshToken
from grants
where cast($workspace as text) is null or workspace_id = $workspace
order by connected_at, id
