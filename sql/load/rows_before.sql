-- The number of rows of a file that are older than a day. $file, $before.
select count(*)::double as rows from read_parquet($file) where {day} < $before::date
