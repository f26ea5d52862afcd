-- Marks the projects that have reported a day after one as changed; all projects if $after is null. The revision is the one that
-- this transaction has taken.
update projects set entities_revision = (select value from revision)
where cast($after as text) is null or synced_through > $after
