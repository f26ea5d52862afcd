-- Running totals of all keywords at the end of one month, minus those at the end of another; up to two rows per keyword.
-- $files: of keyword_running; $through, $before: first days of the months, $before may be null; $device: a device or 'all'.
select
  cast(number as double) as keyword,
  cast(case when date = cast($before as date) then -clicks else clicks end as double) as clicks,
  cast(case when date = cast($before as date) then -impressions else impressions end as double) as impressions,
  cast(case when date = cast($before as date) then -sum_position else sum_position end as double) as "sumPosition"
from read_parquet($files)
where device = $device and (date = cast($through as date) or date = cast($before as date))
