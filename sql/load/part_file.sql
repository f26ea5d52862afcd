-- Writes the file of a project, table and part: the rows of a load, and the rows of the old file outside the days that
-- the load replaces. $files: staged and old files; $old: which of them are old; $project; $days: the days of the part that
-- are replaced; $target.
copy (
  select {columns} from read_parquet($files, union_by_name = true, filename = true, hive_partitioning = false)
  where case when list_contains($old, filename) then not list_contains($days::date[], {day})
    else {mine} end
  order by {order}
) to $target (format parquet, compression zstd, compression_level 1, row_group_size 61440)
