-- Drops the lists of a project that do not come from its current source. $project, $sourceKey. Two ranges of an index,
-- so that current lists are not read.
delete from lists where project_id = $project and (source_key < $sourceKey or source_key > $sourceKey)
