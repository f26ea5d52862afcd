-- The baseline for loads: writes the same rows once, sorted as the loader sorts them. $source: file of keyword_daily;
-- $target: file.
copy (
  select * from read_parquet($source) order by project_id, keyword_id, date, device
) to $target (format parquet, compression zstd)
