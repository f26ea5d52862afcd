-- Marks all projects of a workspace as changed. $id.
update projects set revision = revision + 1 where workspace_id = $id
