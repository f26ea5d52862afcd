-- Sorts a staged part by project, so that reading one project does not read all. $files: staged Parquet files of the
-- part; $target.
copy (select * from read_parquet($files) order by project_id) to $target (format parquet, row_group_size 8192)
