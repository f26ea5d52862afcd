-- The access of the key with this hash, unless it is revoked; it may have expired. projects: a JSON list, or null for
-- all. $hash: SHA-256 of the key, hexadecimal.
select
  k.id as keyId,
  k.hash,
  w.id as workspaceId,
  w.plan,
  k.expires_at as keyExpiresAt,
  case when k.limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = k.id)
  end as projects,
  w.requests_per_minute as requestsPerMinute
from keys k join workspaces w on w.id = k.workspace_id
where k.hash = $hash and k.revoked_at is null
