-- The active feed with this hash, with the access of its key, which may have expired. $hash: SHA-256 of the token,
-- hexadecimal.
select
  f.hash,
  f.path,
  k.key_id as keyId,
  w.id as workspaceId,
  w.plan,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  w.requests_per_minute as requestsPerMinute
from feeds f join key_rights k on k.key_id = f.key_id join workspaces w on w.id = k.workspace_id
where f.hash = $hash and f.revoked_at is null and k.revoked_at is null
