-- The list with the oldest fetch, except one. $keep: the file of that one.
select file from lists where file <> $keep order by fetched_at limit 1
