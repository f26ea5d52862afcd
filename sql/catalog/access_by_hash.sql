-- The access of the key with this hash, unless it is revoked; it may have expired. $hash: SHA-256 of the key, hexadecimal.
select
  k.key_id as keyId,
  k.hash,
  w.id as workspaceId,
  w.plan,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  (select scope from keys where id = k.key_id) as scope,
  w.requests_per_minute as requestsPerMinute
from key_rights k join workspaces w on w.id = k.workspace_id
where k.hash = $hash and k.revoked_at is null
