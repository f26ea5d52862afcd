-- The lists that were fetched first, apart from one. $keep: its file; $limit: how many.
select file, bytes from lists where file <> $keep order by fetched_at limit $limit
