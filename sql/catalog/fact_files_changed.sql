-- The files of a project that became current in this transaction are those of a revision.
-- $id; the revision is the one that this transaction has taken.
update fact_files set revision = (select value from revision) where project_id = $id and revision = 0
