-- Measures of some keywords together on each day that any of them has. $files: of keyword_all; $from, $to: days;
-- $keywords: ids.
select
  date::varchar as date,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and keyword_id = any($keywords)
group by date
order by date
