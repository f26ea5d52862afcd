-- Marks the facts of a project as changed: cached results of older facts are no longer used. $id, $revision.
update projects set facts_revision = $revision where id = $id
