-- The list that was fetched first, apart from one. $keep: its file.
select file from lists where file <> $keep order by fetched_at limit 1
