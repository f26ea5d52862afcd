-- The pages of some keywords, or the keywords of some pages, in no order. {text}: the column of the texts; {by}: that of
-- $names. $files: of keyword_page_daily; $from, $to: days.
select
  {text} as text,
  cast(sum(clicks) as bigint) as clicks,
  cast(sum(impressions) as bigint) as impressions,
  cast(sum(sum_position) as bigint) as sum_position
from read_parquet($files)
where date between cast($from as date) and cast($to as date) and {by} in (select unnest($names) as name)
group by {text}
