-- Writes rows of keyword_daily in an order that nothing knows. $source: file; $below: only keywords with ids below; $target:
-- file.
copy (
  select * from read_parquet($source) where keyword_id < $below order by hash(keyword_id, date, device)
) to $target (format parquet, compression zstd)
