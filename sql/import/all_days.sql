-- The days of a written table. $file.
select distinct date::varchar as day from read_parquet($file) order by day
