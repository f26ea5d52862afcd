-- The active feed with this hash, with the access of its key, which may have expired. projects: a JSON list, or null for
-- all. $hash: SHA-256 of the token, hexadecimal.
select
  f.hash,
  f.path,
  k.id as keyId,
  w.id as workspaceId,
  w.plan,
  k.expires_at as keyExpiresAt,
  case when k.limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = k.id)
  end as projects,
  w.requests_per_minute as requestsPerMinute
from feeds f join keys k on k.id = f.key_id join workspaces w on w.id = k.workspace_id
where f.hash = $hash and f.revoked_at is null and k.revoked_at is null
