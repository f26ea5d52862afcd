-- The last use of a key moves to a separate database (usage.sqlite): each commit to the catalog makes all processes read
-- keys and projects again. Existing values stay here, for keys that are not used again.
alter table keys rename column last_used_at to last_used_before;
