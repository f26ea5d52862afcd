-- Writes typed rows. $target.
copy (select date, page, count from typed_rows) to $target (format parquet)
