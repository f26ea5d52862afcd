-- The parts of a project that lost their file in this transaction did so with a revision.
-- $id; the revision is the one that this transaction has taken.
update removed_parts set revision = (select value from revision) where project_id = $id and revision = 0
