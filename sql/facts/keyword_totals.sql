-- Totals of all keywords over days. $files: of keyword_daily or keyword_all; $from, $to: days; $device: a device or 'all'.
-- Sums of doubles are exact here, because the loader rejects larger ones, and faster than sums of integers.
select
  cast(cast('0x' || hex(keyword_id) as bigint) as double) as keyword,
  sum(cast(clicks as double)) as clicks,
  sum(cast(impressions as double)) as impressions,
  sum(cast(sum_position as double)) as "sumPosition"
from read_parquet($files)
where device = $device and date between cast($from as date) and cast($to as date)
group by keyword_id
