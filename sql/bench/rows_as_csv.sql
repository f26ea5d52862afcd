-- Writes the rows of a plain daily file as CSV without a header, for PostgreSQL. $source, $target: files.
copy (
  select keyword_id, date, device, clicks, impressions, sum_position from read_parquet($source)
) to $target (format csv, header false)
