-- Marks a project, its keywords or groups as changed. Marks the facts of a new project as changed too: a deleted
-- project may have had the same id. $id; the revision is the one that this transaction has taken.
update projects set entities_revision = (select value from revision),
  facts_revision = case entities_revision when 0 then (select value from revision) else facts_revision end
where id = $id
