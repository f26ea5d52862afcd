-- Measures of each day that the property has rows of. $files: Parquet files of site_daily; $from, $to: days; $device: a
-- device or 'all'. A day on which only other devices have rows is zeros; "hasUnknownDevice" marks one whose devices are
-- not known.
select
  cast(date as varchar) as date,
  cast($device <> 'all' and bool_or(device = 'unknown') as double) as "hasUnknownDevice",
  cast(coalesce(sum(clicks) filter (where $device = 'all' or device = $device), 0) as double) as clicks,
  cast(coalesce(sum(impressions) filter (where $device = 'all' or device = $device), 0) as double) as impressions,
  cast(coalesce(sum(sum_position) filter (where $device = 'all' or device = $device), 0) as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
group by date
order by date
