-- Totals of all keywords over days. $files: of keyword_daily or keyword_all; $from, $to: days; $device: a device or 'all'.
-- Sums of doubles are exact here, because the loader rejects larger ones, and faster than sums of integers.
select
  ('0x' || hex(keyword_id))::bigint::double as keyword,
  sum(clicks::double) as clicks,
  sum(impressions::double) as impressions,
  sum(sum_position::double) as "sumPosition"
from read_parquet($files)
where device = $device and date between $from::date and $to::date
group by keyword_id
