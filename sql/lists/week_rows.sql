-- The pages or queries of whole weeks, in no order; -1 if the position of any week is unknown. {text}: their column. $files: of
-- page_weekly_bing or query_weekly_bing; $from, $to: days.
select
  {text} as text,
  cast(sum(clicks) as bigint) as clicks,
  cast(sum(impressions) as bigint) as impressions,
  case when count(sum_position) = count(*) then cast(sum(sum_position) as bigint) else -1 end as sum_position
from read_parquet($files)
where week_end between cast($from as date) and cast($to as date)
group by {text}
