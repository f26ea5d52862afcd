-- The invitation of a link, and whom it signs in: in the role of the member who the address may be by now.
-- $hash: SHA-256 of the secret in the link, hexadecimal.
select i.id, i.workspace_id as workspaceId, i.email, coalesce(m.role, i.role) as role, m.role as memberRole,
  i.expires_at as expiresAt, w.plan, w.requests_per_minute as requestsPerMinute
from invitations i
join workspaces w on w.id = i.workspace_id
left join members m on m.workspace_id = i.workspace_id and m.email = i.email
where i.token_hash = $hash
