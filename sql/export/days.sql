-- First and last day of the rows of a fact file between two days. {first}, {last}: columns; {end}: the
-- last day of a row. $file; $from, $to: days.
select min({first})::varchar as "firstDay", max({last})::varchar as "lastDay"
from read_parquet($file, hive_partitioning = false) where {first} >= $from::date and {end} <= $to::date
