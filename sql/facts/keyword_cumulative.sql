-- Totals of all keywords from the first stored day to the end of a day. $files: one of keyword_cumulative; $clicks,
-- $impressions, $sumPosition: the day's columns, such as clicks_17. DuckDB reads only these columns.
select
  number as keyword,
  columns([$clicks]) as clicks,
  columns([$impressions]) as impressions,
  columns([$sumPosition]) as "sumPosition"
from read_parquet($files)
