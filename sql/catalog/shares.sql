-- Shared links to a project.

-- part: share
-- A share.
-- rows: id text, project text, workspace text, screens text, hideQueries integer, passwordHash text, expiresAt integer,
--   createdAt integer, revokedAt integer
s.id, s.project_id as project, p.workspace_id as workspace, s.screens, s.hide_queries as hideQueries,
  s.password_hash as passwordHash, s.expires_at as expiresAt, s.created_at as createdAt, s.revoked_at as revokedAt

-- name: all
-- Shares, the newest first. $project: null for those of all projects; $id: null for all.
-- rows: {>share}
select {>share}
from shares s join projects p on p.id = s.project_id
where (cast($project as text) is null or s.project_id = $project) and (cast($id as text) is null or s.id = $id)
order by s.created_at desc, s.id

-- name: by_hash
-- The share of a token, and the plan of its workspace. $hash: SHA-256 of the token, hexadecimal.
-- rows: {>share}, plan text
select {>share}, w.plan
from shares s join projects p on p.id = s.project_id join workspaces w on w.id = p.workspace_id
where s.token_hash = $hash and s.revoked_at is null

-- name: add
-- Stores a share. $id, $project, $screens: a JSON array; $hideQueries: 0 or 1; $hash: of its token; $passwordHash or null;
-- $expiresAt or null, $at: microseconds.
insert into shares (id, project_id, screens, hide_queries, token_hash, password_hash, expires_at, created_at)
values ($id, $project, $screens, $hideQueries, $hash, $passwordHash, $expiresAt, $at)

-- name: revoke
-- Revokes a share. $id; $at: microseconds.
update shares set revoked_at = $at where id = $id and revoked_at is null
