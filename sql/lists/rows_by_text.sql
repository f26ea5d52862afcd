-- The rows of a stored list that have one of some texts, in no order. $file: its Parquet file; $texts.
select text, clicks::double as clicks, impressions::double as impressions, sum_position::double as "sumPosition"
from read_parquet($file)
where text in (select unnest($texts))
