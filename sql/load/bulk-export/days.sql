-- The days that have rows. $file: a Parquet file with a date.
select distinct date::varchar as day from read_parquet($file) order by day
