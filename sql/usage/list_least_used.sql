-- The least recently used list, apart from one. $keep: its file.
select file from list_uses where file <> $keep order by used_at limit 1
