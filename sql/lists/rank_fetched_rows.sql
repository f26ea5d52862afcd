-- The fetched rows of a provider in the order of the API, best first. $max: max number of rows.
create temporary table ranked_rows as
select row_number() over (order by clicks desc, impressions desc, text) as rank, *
from fetched_rows
order by rank
limit $max
