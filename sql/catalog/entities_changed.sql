-- Marks a project, its keywords or groups as changed. Marks the facts of a new project as changed too: a deleted
-- project may have had the same id. $id, $revision.
update projects set entities_revision = $revision,
  facts_revision = case entities_revision when 0 then $revision else facts_revision end
where id = $id
