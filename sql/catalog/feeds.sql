-- Feeds: addresses that answer one request of a key without it.

-- name: by_hash
-- The active feed with this hash, with the access of its key, which may have expired. $hash: SHA-256 of the token,
-- hexadecimal.
-- rows: hash text, path text, keyId text, workspaceId text, plan text, keyExpiresAt integer, projects text,
--   requestsPerMinute integer
select
  f.hash,
  f.path,
  k.key_id as keyId,
  w.id as workspaceId,
  w.plan,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  w.requests_per_minute as requestsPerMinute
from feeds f join key_rights k on k.key_id = f.key_id join workspaces w on w.id = k.workspace_id
where f.hash = $hash and f.revoked_at is null and k.revoked_at is null

-- name: all
-- The feeds of a workspace, or all, oldest first. A feed ends with its key. $workspace: null for all.
-- rows: id text, workspace text, keyId text, path text, createdAt integer, revokedAt integer
select f.id, k.workspace_id as workspace, k.id as keyId, f.path, f.created_at as createdAt,
  coalesce(f.revoked_at, k.revoked_at) as revokedAt
from feeds f join keys k on k.id = f.key_id
where cast($workspace as text) is null or k.workspace_id = $workspace order by f.created_at, f.id

-- name: count_active
-- How many active feeds a key has. $keyId.
-- rows: count integer
select count(*) as count from feeds where key_id = $keyId and revoked_at is null

-- name: add
-- Stores a new feed. $id, $keyId; $hash: SHA-256 of its token, hexadecimal; $path: below the API's root; $at: microseconds.
insert into feeds (id, key_id, hash, path, created_at) values ($id, $keyId, $hash, $path, $at)

-- name: move
-- Moves the feeds of a key to another. $from, $to.
update feeds set key_id = $to where key_id = $from

-- name: revoke
-- Revokes a feed permanently. $id, $at: microseconds.
update feeds set revoked_at = $at where id = $id and revoked_at is null
