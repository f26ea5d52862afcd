-- The best rows, for a list that cannot be stored. $max: how many.
select text, clicks::double as clicks, impressions::double as impressions, sum_position::double as "sumPosition"
from ranked_rows where rank <= $max::bigint order by rank
