-- Marks all projects of a workspace as changed, for what they have of it. $id, $revision.
update projects set entities_revision = $revision where workspace_id = $id
