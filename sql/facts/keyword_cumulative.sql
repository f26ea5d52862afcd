-- What all keywords had until the end of a day of a month. $files: one of keyword_cumulative; $clicks, $impressions,
-- $sumPosition: the day's columns, such as clicks_17. DuckDB reads these columns alone.
select
  number as keyword,
  columns([$clicks]) as clicks,
  columns([$impressions]) as impressions,
  columns([$sumPosition]) as "sumPosition"
from read_parquet($files)
