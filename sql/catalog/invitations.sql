-- The invitations of a workspace that can be used, the oldest first. $workspace; $at: microseconds.
select id, email, role, created_by as createdBy, created_at as createdAt, expires_at as expiresAt
from invitations where workspace_id = $workspace and expires_at > $at order by created_at, id
