-- The weeks that have any row, with their sums, in order. $files: of page_weekly_bing or query_weekly_bing; $from, $to: days.
select
  cast(week_end as varchar) as date,
  cast(sum(clicks) as bigint) as clicks,
  cast(sum(impressions) as bigint) as impressions
from read_parquet($files)
where week_end between cast($from as date) and cast($to as date)
group by week_end
order by 1
