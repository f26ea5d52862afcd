-- Totals of the pages that ranked for a keyword, most impressions first. $files: of keyword_page_daily; $from, $to: days;
-- $keyword: its id; $limit.
select
  url as name,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and keyword_id = $keyword
group by url
order by sum(impressions) desc, url
limit $limit::bigint
