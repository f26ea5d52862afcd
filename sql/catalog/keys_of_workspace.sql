-- A workspace's keys, oldest first. $workspace.
select id, name, prefix, created_at as createdAt, last_used_at as lastUsedAt, revoked_at as revokedAt
from keys where workspace_id = $workspace order by created_at, id
