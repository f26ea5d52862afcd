-- First and last day of the rows of a fact file between two days. {day}: column; {end}: the last day of a row. $file; $from,
-- $to: days.
select min({day})::varchar as "firstDay", max({day})::varchar as "lastDay"
from read_parquet($file, hive_partitioning = false) where {day} >= $from::date and {end} <= $to::date
