-- The pages or queries of a range, in no order. {text}: their column. $files: of page_daily or query_daily; $from, $to: days;
-- $country: a country, or null for all.
select
  {text} as text,
  cast(sum(clicks) as bigint) as clicks,
  cast(sum(impressions) as bigint) as impressions,
  cast(sum(sum_position) as bigint) as sum_position
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
  and (cast($country as varchar) is null or country = cast($country as varchar))
group by {text}
