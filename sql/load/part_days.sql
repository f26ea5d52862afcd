-- First and last day of a written file, and the largest of its sums. $file.
select min({first})::varchar as "firstDay", max({last})::varchar as "lastDay",
  greatest(sum(clicks), sum(impressions), sum(sum_position))::varchar as largest
from read_parquet($file)
