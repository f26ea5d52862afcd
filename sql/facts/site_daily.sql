-- Measures of each day that the property has rows of. $files: Parquet files of site_daily; $from, $to: days; $device: a
-- device or 'all'. A day on which only other devices have rows is zeros; "hasUnknownDevice" marks one whose devices are
-- not known.
select
  date::varchar as date,
  ($device <> 'all' and bool_or(device = 'unknown'))::double as "hasUnknownDevice",
  coalesce(sum(clicks) filter (where $device = 'all' or device = $device), 0)::double as clicks,
  coalesce(sum(impressions) filter (where $device = 'all' or device = $device), 0)::double as impressions,
  coalesce(sum(sum_position) filter (where $device = 'all' or device = $device), 0)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date
group by date
order by date
