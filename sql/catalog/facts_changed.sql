-- Marks the facts of a project as changed: cached results of older facts are no longer used.
-- $id; the revision is the one that this transaction has taken.
update projects set facts_revision = (select value from revision),
  files_since = case files_since when 0 then (select value from revision) else files_since end where id = $id
