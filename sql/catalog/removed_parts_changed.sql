-- The parts of a project that lost their file in this transaction did so with a revision. $id, $revision.
update removed_parts set revision = $revision where project_id = $id and revision = 0
