-- Measures of the property by day and device. $files: Parquet files of site_daily; $from, $to: days.
select
  cast(date as varchar) as date,
  device,
  cast(clicks as double) as clicks,
  cast(impressions as double) as impressions,
  cast(sum_position as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
order by date, device
