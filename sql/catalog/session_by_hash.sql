-- A session, if its key is not revoked or its member still one of the workspace.
-- $hash: SHA-256 of its secret, hexadecimal.
select
  s.id,
  s.hash,
  s.key_id as keyId,
  s.email,
  m.role,
  s.expires_at as expiresAt,
  w.id as workspaceId,
  w.name as workspaceName,
  w.plan,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  w.requests_per_minute as requestsPerMinute
from sessions s
join workspaces w on w.id = s.workspace_id
left join key_rights k on k.key_id = s.key_id
left join members m on m.workspace_id = s.workspace_id and m.email = s.email
where s.hash = $hash
  and (s.key_id is null or k.revoked_at is null)
  and (s.email is null or m.role is not null)
