-- The days that have any row. $files: Parquet files of a table of days; $from, $to: days.
select distinct date::varchar as date from read_parquet($files) where date between $from::date and $to::date order by date
