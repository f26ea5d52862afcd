-- Measures of some keywords, pages, queries or segments together on each day that any of them has. {name}: the column that
-- $names are of. $files: of keyword_all, page_daily, query_daily or brand_daily; $from, $to: days.
select
  cast(date as varchar) as date,
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date) and {name} in (select unnest($names) as name)
group by date
order by date
