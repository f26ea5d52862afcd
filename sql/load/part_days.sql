-- First and last day of a written file, and the largest of its sums. {sums}: of its measures. $file.
select min({first})::varchar as "firstDay", max({last})::varchar as "lastDay",
  greatest({sums})::varchar as largest
from read_parquet($file)
