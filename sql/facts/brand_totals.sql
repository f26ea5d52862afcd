-- Totals of queries with and without a brand term. $files: Parquet files of brand_daily; $from, $to: days.
select
  segment as name,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date
group by segment
