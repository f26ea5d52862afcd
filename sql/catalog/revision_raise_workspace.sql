-- Marks all projects of a workspace as changed. $id, $revision.
update projects set revision = $revision where workspace_id = $id
