-- The baseline for totals: all keywords of a plain daily file over a range. $file; $from, $to: days.
select
  keyword_id,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as sum_position
from read_parquet($file)
where date between $from::date and $to::date
group by keyword_id
