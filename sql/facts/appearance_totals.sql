-- Totals of each appearance; they overlap. $files: Parquet files of appearance_daily; $from, $to: days.
select
  appearance as name,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date
group by appearance
