-- The baseline for days: each day of some keywords of a plain daily file, over all devices. $file; $from, $to: days;
-- $keywords: ids.
select
  keyword_id,
  date::varchar as date,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as sum_position
from read_parquet($file)
where date between $from::date and $to::date and keyword_id = any($keywords)
group by keyword_id, date
order by keyword_id, date
