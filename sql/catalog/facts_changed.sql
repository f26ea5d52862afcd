-- Marks the facts of a project as changed: what was computed from older ones is not asked for again. $id, $revision.
update projects set facts_revision = $revision where id = $id
