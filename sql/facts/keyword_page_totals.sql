-- Totals of the pages that ranked for a keyword, most impressions first. $files: of keyword_page_daily; $from, $to: days;
-- $keyword: its id; $limit.
select
  url as name,
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date) and keyword_id = $keyword
group by url
order by 3 desc, 1
limit $limit
