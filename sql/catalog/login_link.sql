-- A sign-in link that has not been used. $hash: SHA-256 of its secret, hexadecimal.
select hash, workspace_id as workspaceId, key_id as keyId, email, expires_at as expiresAt
from login_links
where hash = $hash
