-- The numbers of rows of two lists, in no order, from a statement as in joined_rows.
select clicks, impressions, "sumPosition", "baseClicks", "baseImpressions", "baseSumPosition"
from (
{rows}
)
