-- Measures of each hour that the property has rows of. $files: Parquet files of site_hourly; $from, $to: Pacific days.
-- hour: its start, in microseconds since 1970 (UTC).
select
  cast(hour as double) as hour,
  cast(clicks as double) as clicks,
  cast(impressions as double) as impressions,
  cast(sum_position as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
order by hour
