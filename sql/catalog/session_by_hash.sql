-- A session, if its key is not revoked or its member still an owner. projects: a JSON list, or null for all. $hash:
-- SHA-256 of its secret, hexadecimal.
select
  s.id,
  s.hash,
  s.key_id as keyId,
  s.email,
  s.expires_at as expiresAt,
  w.id as workspaceId,
  w.name as workspaceName,
  w.plan,
  k.expires_at as keyExpiresAt,
  case when k.limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = k.id)
  end as projects,
  w.requests_per_minute as requestsPerMinute
from sessions s
join workspaces w on w.id = s.workspace_id
left join keys k on k.id = s.key_id
left join members m on m.workspace_id = s.workspace_id and m.email = s.email
where s.hash = $hash
  and (s.key_id is null or k.revoked_at is null)
  and (s.email is null or m.role = 'owner')
