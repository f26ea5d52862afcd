-- Totals of some keywords: sums of the months that the range covers whole, and the days of those at its ends. $sums: the
-- file of keyword_months, if $hasSums; $sumsFrom, $sumsTo: first days of the first and last month covered; $days: files
-- of keyword_daily or keyword_all, if $hasDays; $from, $to: days; $device: a device or 'all'; $keywords: ids.
select
  ('0x' || hex(keyword_id))::bigint::double as keyword,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from (
  select keyword_id, clicks, impressions, sum_position from read_parquet($sums)
  where $hasSums and device = $device and date between $sumsFrom::date and $sumsTo::date and keyword_id = any($keywords)
  union all
  select keyword_id, clicks, impressions, sum_position from read_parquet($days)
  where $hasDays and device = $device and date between $from::date and $to::date and keyword_id = any($keywords)
)
group by keyword_id
