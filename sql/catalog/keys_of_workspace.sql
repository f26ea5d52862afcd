-- A workspace's keys, oldest first. The last use is only what an older version stored here. $workspace.
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
