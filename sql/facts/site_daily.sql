-- Measures of each day of the whole property. $files: Parquet files of site_daily; $from, $to: days; $device: a device
-- or 'all'. Days whose devices are not known come with any device, as such.
select
  date::varchar as date,
  ($device <> 'all' and bool_or(device = 'unknown'))::double as "hasUnknownDevice",
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and ($device = 'all' or device in ($device, 'unknown'))
group by date
order by date
