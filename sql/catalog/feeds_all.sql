-- The feeds of a workspace, or all, oldest first. A feed ends with its key. $workspace: null for all.
select f.id, k.workspace_id as workspace, k.id as keyId, f.path, f.created_at as createdAt,
  coalesce(f.revoked_at, k.revoked_at) as revokedAt
from feeds f join keys k on k.id = f.key_id
where cast($workspace as text) is null or k.workspace_id = $workspace order by f.created_at, f.id
