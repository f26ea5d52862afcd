-- API keys: only hashes are stored.

-- name: by_hash
-- The access of the key with this hash, unless it is revoked; it may have expired. $hash: SHA-256 of the key, hexadecimal.
-- rows: keyId text, hash text, workspaceId text, plan text, keyExpiresAt integer, projects text, scope text,
--   requestsPerMinute integer
select
  k.key_id as keyId,
  k.hash,
  w.id as workspaceId,
  w.plan,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  (select scope from keys where id = k.key_id) as scope,
  w.requests_per_minute as requestsPerMinute
from key_rights k join workspaces w on w.id = k.workspace_id
where k.hash = $hash and k.revoked_at is null

-- name: active
-- The workspace and the projects of a key that is valid. $id; $at: microseconds.
-- rows: workspace text, projects text
select workspace_id as workspace, projects
from key_rights
where key_id = $id and revoked_at is null and (key_expires_at is null or key_expires_at > $at)

-- name: of_workspace
-- A workspace's keys, oldest first. The last use is only what an older version stored here. $workspace.
-- rows: id text, name text, prefix text, createdAt integer, expiresAt integer, lastUsedAt integer, revokedAt integer,
--   replacedBy text, projects text, scope text
select
  k.id,
  k.name,
  k.prefix,
  k.created_at as createdAt,
  k.expires_at as expiresAt,
  k.last_used_before as lastUsedAt,
  k.revoked_at as revokedAt,
  k.replaced_by as replacedBy,
  projects,
  k.scope
from keys k join key_rights r on r.key_id = k.id
where k.workspace_id = $workspace order by k.created_at, k.id

-- name: count_active
-- How many keys of a workspace are valid? Those that were replaced do not count. $workspace; $at: microseconds.
-- rows: count integer
select count(*) as count from keys
where workspace_id = $workspace and revoked_at is null and replaced_by is null
  and (expires_at is null or expires_at > $at)

-- name: names
-- The name and workspace of every key.
-- rows: id text, name text, workspace text
select id, name, workspace_id as workspace from keys

-- name: add
-- Stores a new key: only its hash and first characters. $id, $workspace, $name; $prefix: first characters; $hash:
-- SHA-256, hexadecimal; $at: microseconds; $by: who created it, by email address or command; $expiresAt:
-- microseconds, or null; $limited: 1 if it may read some projects only; $scope: `sql`, or null.
insert into keys (id, workspace_id, name, prefix, hash, created_at, created_by, expires_at, limited, scope)
values ($id, $workspace, $name, $prefix, $hash, $at, $by, $expiresAt, $limited, $scope)

-- name: add_project
-- Lets a limited key read a project. $key, $project.
insert into key_projects (key_id, project_id) values ($key, $project)

-- name: replace
-- Marks a key as replaced by another; it is valid until $expiresAt (microseconds), or its own end if that is earlier. $id,
-- $by.
update keys set replaced_by = $by, expires_at = case when expires_at < $expiresAt then expires_at else $expiresAt end
where id = $id

-- name: revoke
-- Revokes a key permanently. $id, $at: microseconds.
update keys set revoked_at = $at where id = $id and revoked_at is null
