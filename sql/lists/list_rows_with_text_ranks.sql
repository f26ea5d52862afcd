-- All rows of a stored list in its order, each with its rank in the order of texts (by bytes). $file: its Parquet file.
select
  text,
  clicks::double as clicks,
  impressions::double as impressions,
  sum_position::double as "sumPosition",
  row_number() over (order by text)::double as "textRank"
from read_parquet($file)
order by rank
