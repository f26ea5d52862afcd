-- The rows of a statement as in joined_rows whose clicks changed most, in either direction. $limit: how many.
select *
from (
{rows}
)
order by abs(clicks - "baseClicks") desc, text
limit $limit::bigint
