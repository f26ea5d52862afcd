-- The stored days of a table whose rows say what they are about. {column}: 'unknown' where they do not. $files: Parquet files.
select distinct date::varchar as day from read_parquet($files) where {column} <> 'unknown' order by day
