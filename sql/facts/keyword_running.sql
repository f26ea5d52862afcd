-- Running totals of all keywords at the end of one month, minus those at the end of another; up to two rows per keyword.
-- $files: of keyword_running; $through, $before: first days of the months, $before may be null; $device: a device or 'all'.
select
  number::double as keyword,
  (case date when $before::date then -clicks else clicks end)::double as clicks,
  (case date when $before::date then -impressions else impressions end)::double as impressions,
  (case date when $before::date then -sum_position else sum_position end)::double as "sumPosition"
from read_parquet($files)
where device = $device and (date = $through::date or date = $before::date)
