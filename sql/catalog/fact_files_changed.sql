-- The files of a project that became current in this transaction are those of a revision. $id, $revision.
update fact_files set revision = $revision where project_id = $id and revision = 0
