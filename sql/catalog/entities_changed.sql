-- Marks a project, its keywords or groups as changed. Marks the facts of a new project as changed too: a deleted
-- project may have had the same id. $id, $revision.
update projects set entities_revision = $revision,
  facts_revision = iif(entities_revision = 0, $revision, facts_revision)
where id = $id
