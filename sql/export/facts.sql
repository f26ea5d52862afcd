-- Writes the rows of a fact file between two days. {columns}; {order}; {first}: the first day of a row, {end}: its last;
-- {format}: of the file. $file; $from, $to: days; $target.
copy (
  select {columns} from read_parquet($file, hive_partitioning = false)
  where {first} >= $from::date and {end} <= $to::date order by {order}
) to $target ({format})
