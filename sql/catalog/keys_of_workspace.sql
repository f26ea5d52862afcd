-- A workspace's keys, oldest first. The last use is only what an older version stored here. projects: a JSON list of
-- those that a key may read, or null for all. $workspace.
select
  id,
  name,
  prefix,
  created_at as createdAt,
  expires_at as expiresAt,
  last_used_before as lastUsedAt,
  revoked_at as revokedAt,
  replaced_by as replacedBy,
  case when limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = keys.id)
  end as projects
from keys where workspace_id = $workspace order by created_at, id
