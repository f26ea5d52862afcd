-- Invitations to workspaces.

-- name: all
-- The invitations of a workspace that can be used, the oldest first. $workspace; $at: microseconds.
-- rows: id text, email text, role text, createdBy text, createdAt integer, expiresAt integer
select id, email, role, created_by as createdBy, created_at as createdAt, expires_at as expiresAt
from invitations where workspace_id = $workspace and expires_at > $at order by created_at, id

-- name: by_hash
-- The invitation of a link, and whom it signs in: in the role of the member who the address may be by now.
-- $hash: SHA-256 of the secret in the link, hexadecimal.
-- rows: id text, workspaceId text, email text, role text, memberRole text, expiresAt integer, plan text,
--   requestsPerMinute integer
select i.id, i.workspace_id as workspaceId, i.email, coalesce(m.role, i.role) as role, m.role as memberRole,
  i.expires_at as expiresAt, w.plan, w.requests_per_minute as requestsPerMinute
from invitations i
join workspaces w on w.id = i.workspace_id
left join members m on m.workspace_id = i.workspace_id and m.email = i.email
where i.token_hash = $hash

-- name: add
-- Stores an invitation. $id, $workspace, $email, $role, $hash: SHA-256 of the secret in its link, hexadecimal; $by, $at,
-- $expiresAt.
insert into invitations (id, workspace_id, email, role, token_hash, created_by, created_at, expires_at)
values ($id, $workspace, $email, $role, $hash, $by, $at, $expiresAt)

-- name: remove
-- Removes an invitation. $id.
delete from invitations where id = $id

-- name: forget
-- Forgets invitations that have ended. $at: microseconds.
delete from invitations where expires_at <= $at

-- name: forget_all
-- Forgets all invitations: some may have been used or revoked after the backup.
delete from invitations
