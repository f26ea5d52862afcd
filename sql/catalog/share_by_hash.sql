-- The share of a token, and the plan of its workspace. $hash: SHA-256 of the token, hexadecimal.
select s.id, s.project_id as project, p.workspace_id as workspace, s.screens, s.hide_queries as hideQueries,
  s.password_hash as passwordHash, s.expires_at as expiresAt, s.created_at as createdAt, s.revoked_at as revokedAt, w.plan
from shares s join projects p on p.id = s.project_id join workspaces w on w.id = p.workspace_id
where s.token_hash = $hash and s.revoked_at is null
