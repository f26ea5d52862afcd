-- The last use of a key goes to a database of its own (usage.sqlite): each commit to the catalog makes all processes read
-- keys and projects again. What was stored until now stays here, for keys that are not used again.
alter table keys rename column last_used_at to last_used_before;
