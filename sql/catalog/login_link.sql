-- A sign-in link that has not been used. $hash: SHA-256 of its secret, hexadecimal.
select
  l.hash as id,
  l.workspace_id as workspaceId,
  w.plan,
  l.key_id as keyId,
  l.email,
  m.role,
  l.expires_at as expiresAt,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  w.requests_per_minute as requestsPerMinute
from login_links l
join workspaces w on w.id = l.workspace_id
left join key_rights k on k.key_id = l.key_id
left join members m on m.workspace_id = l.workspace_id and m.email = l.email
where l.hash = $hash
  and (l.key_id is null or k.revoked_at is null)
  and (l.email is null or m.role is not null)
