-- The first row of a day that has not happened, and its file. $files; $last: the last day that may be.
select filename as file, data_date::date::varchar as day, file_row_number::double + 1 as row
from read_parquet($files, union_by_name = true, hive_partitioning = false, filename = true, file_row_number = true)
where data_date::date > $last::date order by file, file_row_number limit 1
