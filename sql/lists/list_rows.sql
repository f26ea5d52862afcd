-- Rows of a stored list. $file: its Parquet file; $after: rank of the row before the first one; $limit: how many rows.
select text, clicks::double as clicks, impressions::double as impressions, sum_position::double as "sumPosition"
from read_parquet($file)
where rank > $after::bigint and rank <= $after::bigint + $limit::bigint
order by rank
