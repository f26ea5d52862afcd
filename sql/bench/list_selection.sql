-- What DuckDB itself takes for a filter and a sort of a stored list. $file: Parquet file of the list; $clicks: a
-- number.
select text, clicks, impressions, sum_position
from read_parquet($file)
where contains(lower(text), 'shoe') or clicks >= $clicks
order by impressions desc, text
limit 1000
