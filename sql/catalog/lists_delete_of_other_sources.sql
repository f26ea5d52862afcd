-- Drops the lists of a project that were made from anything else than its source now. $project, $sourceKey. Two ranges
-- of an index, so that current lists are not read.
delete from lists where project_id = $project and (source_key < $sourceKey or source_key > $sourceKey)
