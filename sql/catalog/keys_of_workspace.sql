-- A workspace's keys, oldest first. The last use is only what an older version stored here. $workspace.
select id, name, prefix, created_at as createdAt, last_used_before as lastUsedAt, revoked_at as revokedAt
from keys where workspace_id = $workspace order by created_at, id
