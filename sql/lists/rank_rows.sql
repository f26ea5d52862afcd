-- Ranks the rows of a statement in the order of the API, best first. $max: how many.
create temporary table ranked_rows as
select row_number() over (order by clicks desc, impressions desc, text) as rank, *
from (
{rows}
)
order by rank
limit $max
