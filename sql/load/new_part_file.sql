-- Writes the file of a project, table and part without old rows, in less time than part_file.sql. $files: staged files;
-- $project; $target.
copy (select {columns} from read_parquet($files, hive_partitioning = false) where project_id = $project order by {order})
to $target (format parquet, compression zstd, compression_level 1, row_group_size 61440)
