-- A grant. $id.
select id, workspace_id as workspace, kind, client_id as clientId, connected_by as connectedBy,
  connected_at as connectedAt, ends_at as endsAt, lost_at as lostAt, refresh_token as refreshToken
from grants
where id = $id
