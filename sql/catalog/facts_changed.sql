-- Marks the facts of a project as changed: cached results of older facts are no longer used. $id, $revision.
update projects set facts_revision = $revision,
  files_since = case files_since when 0 then $revision else files_since end where id = $id
