-- The days that have rows. $file: a Parquet file with a date column.
select distinct date::varchar as day from read_parquet($file) order by day
