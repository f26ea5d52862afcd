-- The least recently used list, except one. $keep: the file of that one.
select file from list_uses where file <> $keep order by used_at limit 1
