-- Writes the file of a project, table and part: the rows a load carries, and those of the file before that lie
-- outside the days it replaces. $files: all of them; $old: those that are the file before; $project; $days: the days of
-- the part that are replaced; $target.
copy (
  select {columns} from read_parquet($files, union_by_name = true, filename = true, hive_partitioning = false)
  where case when list_contains($old, filename) then not list_contains($days::date[], {day})
    else {mine} end
  order by {order}
) to $target (format parquet, compression zstd, compression_level 1, row_group_size 61440)
