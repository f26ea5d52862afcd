-- What a load is compared with: the same rows, sorted as the loader sorts them, written once. $source: file of
-- keyword_daily; $target: file.
copy (
  select * from read_parquet($source) order by project_id, keyword_id, date, device
) to $target (format parquet, compression zstd)
