-- The active key with this hash, and its workspace. $hash: SHA-256 of the key, hexadecimal.
select k.id as keyId, k.hash, w.id as workspaceId, w.plan
from keys k join workspaces w on w.id = k.workspace_id
where k.hash = $hash and k.revoked_at is null
