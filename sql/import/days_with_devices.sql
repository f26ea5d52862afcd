-- The stored days of the site whose devices are known. $files: Parquet files of site_daily.
select distinct date::varchar as day from read_parquet($files) where device <> 'unknown' order by day
