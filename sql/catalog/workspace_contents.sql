-- How many rows besides projects belong to a workspace and are deleted with it. $workspace.
select w.id, w.name,
  (select count(*) from keys where workspace_id = w.id and revoked_at is null) as keys,
  (select count(*) from keys where workspace_id = w.id and revoked_at is not null) as revokedKeys,
  (select count(*) from members where workspace_id = w.id) as members,
  (select count(*) from notes where workspace_id = w.id and project_id is null) as notes
from workspaces w where w.id = $workspace
