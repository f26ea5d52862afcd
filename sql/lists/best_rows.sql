-- The best rows of a statement. $max: how many.
select *
from (
{rows}
)
order by clicks desc, impressions desc, text
limit $max
