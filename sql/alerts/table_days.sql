-- The days that have any row. $files: Parquet files of a table of days; $from, $to: days.
select distinct cast(date as varchar) as date
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
order by 1
