-- Drops the lists of a project that come from none of its current sources: weeks of Bing are stored, while other lists come
-- from a provider. $project, $sourceKey: that of a list. Two ranges of an index, so that its other lists are not read.
delete from lists where project_id = $project and (source_key < $sourceKey or source_key > $sourceKey)
  and source_key not in (
    select 'facts ' || facts_revision from projects where id = $project
    union all select 'property ' || property from projects where id = $project
  )
