-- Marks a project as changed: whatever was computed from its older state is not asked for again. $id, $revision.
update projects set revision = $revision where id = $id
