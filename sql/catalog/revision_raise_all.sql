-- Marks all projects as changed. $revision.
update projects set revision = $revision
