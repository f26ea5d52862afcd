-- Marks all projects of a workspace as changed, because they depend on its settings.
-- $id; the revision is the one that this transaction has taken.
update projects set entities_revision = (select value from revision) where workspace_id = $id
