-- The queries of a list of a range in the order of the API, best first. $files: one Parquet file of query_period.
create temporary table ranked_rows as
select row_number() over (order by clicks desc, impressions desc, text) as rank, *
from (select query as text, clicks, impressions, sum_position from read_parquet($files))
order by rank
