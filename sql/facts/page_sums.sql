-- Measures of some pages together on each day that any of them has. $files: of page_daily; $from, $to: days; $urls.
select
  date::varchar as date,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and url = any($urls)
group by date
order by date
