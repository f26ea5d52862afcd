-- Marks all projects of a workspace as changed, because they depend on its settings. $id, $revision.
update projects set entities_revision = $revision where workspace_id = $id
