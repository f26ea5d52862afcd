-- Writes typed rows. {keys}: columns. $target.
copy (select {keys}, clicks, impressions, sum_position from typed_rows) to $target (format parquet)
