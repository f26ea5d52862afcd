-- The active feed with this hash, with its active key and workspace. $hash: SHA-256 of the token, hexadecimal.
select f.hash, f.path, k.id as keyId, w.id as workspaceId, w.plan
from feeds f join keys k on k.id = f.key_id join workspaces w on w.id = k.workspace_id
where f.hash = $hash and f.revoked_at is null and k.revoked_at is null
