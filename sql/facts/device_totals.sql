-- Totals of each device over the whole property. $files: Parquet files of site_daily; $from, $to: days.
select
  device as name,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date
group by device
