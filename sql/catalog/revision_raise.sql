-- Marks a project as changed: whatever was computed from its older state is not asked for again. $id.
update projects set revision = revision + 1 where id = $id
