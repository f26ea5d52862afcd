-- Marks a project, its keywords or groups as changed, and the facts too of a project that is new: its id may have been
-- that of one which is gone. $id, $revision.
update projects set entities_revision = $revision,
  facts_revision = iif(entities_revision = 0, $revision, facts_revision)
where id = $id
