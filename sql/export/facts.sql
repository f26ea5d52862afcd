-- Writes the rows of a fact file between two days. {order}; {day}: column; {end}: the last day of a row; {format}: of the
-- file. $file; $from, $to: days; $target.
copy (
  select * from read_parquet($file, hive_partitioning = false)
  where {day} >= $from::date and {end} <= $to::date order by {order}
) to $target ({format})
